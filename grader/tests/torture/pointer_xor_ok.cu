// pointer_xor.cu, put right.
#define FIXED
#include "pointer_xor.cu"
