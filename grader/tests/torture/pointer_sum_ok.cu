// pointer_sum.cu, put right.
#define FIXED
#include "pointer_sum.cu"
