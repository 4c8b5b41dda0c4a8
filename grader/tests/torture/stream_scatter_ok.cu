// stream_scatter.cu, put right.
#define FIXED
#include "stream_scatter.cu"
