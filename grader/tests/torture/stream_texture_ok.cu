// stream_texture.cu, put right.
#define FIXED
#include "stream_texture.cu"
