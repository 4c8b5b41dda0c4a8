// linked_part.h — what programs/linked.cu and linked_part.cu share.
#pragma once
#include <cstdio>

extern __device__ int counter;
extern __constant__ int table[4];
__device__ int twice(int x);
__device__ int there(int x);
__device__ int here(int x);
inline __device__ __noinline__ int both(int x) { return x * 3; }
void other_kernel(int *out);
