// stream_variable.cu, put right.
#define FIXED
#include "stream_variable.cu"
