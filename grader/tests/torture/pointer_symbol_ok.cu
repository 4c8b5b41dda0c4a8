// pointer_symbol.cu, put right.
#define FIXED
#include "pointer_symbol.cu"
