// pointer_structure.cu, put right.
#define FIXED
#include "pointer_structure.cu"
