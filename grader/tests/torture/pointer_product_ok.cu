// pointer_product.cu, put right.
#define FIXED
#include "pointer_product.cu"
