// pointer_table.cu, put right.
#define FIXED
#include "pointer_table.cu"
