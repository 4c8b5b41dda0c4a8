// pointer_local.cu, put right.
#define FIXED
#include "pointer_local.cu"
