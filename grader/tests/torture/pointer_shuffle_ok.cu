// pointer_shuffle.cu, put right.
#define FIXED
#include "pointer_shuffle.cu"
