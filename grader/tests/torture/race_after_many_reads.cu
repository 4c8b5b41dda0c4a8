// Reads of one interval, more than the lists of past accesses and of patterns hold, then a store that the first of them race with.
#include "../programs/check.h"

__global__ void many(int *p, int turns) { // 12 000 reads by each of two warps of all kinds of patterns
    __shared__ int s[1024];
    int t = threadIdx.x, sum = 0;
    for (int i = t; i < 1024; i += blockDim.x) s[i] = i;
    __syncthreads();
    if (t < 32) sum += s[1023]; // no report here: the store comes later
    for (int i = 0; i < turns; i++) sum += s[(t * (i % 500 | 1) + i) % 1000]; // nor here: other words
    if (t == 63) s[1023] = -1; // reported
    p[t] = sum;
}

__global__ void few(int *p) { // the interval before does not count
    __shared__ int s[64];
    int t = threadIdx.x;
    s[t] = t;
    __syncthreads();
    int sum = s[63 - t] + s[t];
    __syncthreads();
    s[t] = sum; // silent
    __syncthreads();
    sum += s[t ^ 32];
    s[t] = sum; // reported: of this interval
    p[t] = s[t];
}

__global__ void own(int *p) { // a thread's own reads
    __shared__ int s[64];
    int t = threadIdx.x;
    s[t] = t;
    __syncthreads();
    int sum = s[t];
    s[t] = sum + 1; // silent
    p[t] = s[t];
}

int main() {
    int *p;
    CHECK(cudaMalloc(&p, 1024));
    many<<<1, 64>>>(p, 12000);
    few<<<1, 64>>>(p);
    own<<<1, 64>>>(p);
    SHOW(cudaDeviceSynchronize());
    return 0;
}
