// stream_event_early.cu, put right.
#define FIXED
#include "stream_event_early.cu"
