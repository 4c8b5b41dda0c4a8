// stream_many.cu, put right.
#define FIXED
#include "stream_many.cu"
