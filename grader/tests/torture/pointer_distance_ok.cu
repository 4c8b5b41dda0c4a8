// pointer_distance.cu, put right.
#define FIXED
#include "pointer_distance.cu"
