// pointer_shared.cu, put right.
#define FIXED
#include "pointer_shared.cu"
