// stream_chain.cu, put right.
#define FIXED
#include "stream_chain.cu"
