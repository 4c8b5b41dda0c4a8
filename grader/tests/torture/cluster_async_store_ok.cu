// cluster_async_store.cu, put right.
// nvcc: -std=c++17 -arch=sm_90
#define FIXED
#include "cluster_async_store.cu"
