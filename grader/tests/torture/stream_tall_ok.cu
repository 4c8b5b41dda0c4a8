// stream_tall.cu, put right.
#define FIXED
#include "stream_tall.cu"
