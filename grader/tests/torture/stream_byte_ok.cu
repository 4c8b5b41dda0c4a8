// stream_byte.cu, put right.
#define FIXED
#include "stream_byte.cu"
