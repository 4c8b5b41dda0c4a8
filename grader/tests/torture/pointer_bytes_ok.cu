// pointer_bytes.cu, put right.
#define FIXED
#include "pointer_bytes.cu"
