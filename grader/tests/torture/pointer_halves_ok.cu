// pointer_halves.cu, put right.
#define FIXED
#include "pointer_halves.cu"
