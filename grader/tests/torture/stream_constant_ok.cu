// stream_constant.cu, put right.
#define FIXED
#include "stream_constant.cu"
