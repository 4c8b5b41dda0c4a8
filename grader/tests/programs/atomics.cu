// Shared and global atomics, shuffles and votes: a histogram and a reduction.
#include "check.h"
#include <vector>

__global__ void histogram(const unsigned char *in, int n, unsigned *out) {
    __shared__ unsigned bins[256];
    bins[threadIdx.x] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) atomicAdd(&bins[in[i]], 1);
    __syncthreads();
    atomicAdd(&out[threadIdx.x], bins[threadIdx.x]);
}

__global__ void reduce(const unsigned *in, unsigned long long *sum, unsigned *most) {
    unsigned v = in[threadIdx.x], m = v;
    for (int d = 16; d; d /= 2) {
        v += __shfl_down_sync(~0u, v, d);
        m = max(m, __shfl_xor_sync(~0u, m, d));
    }
    if (threadIdx.x % 32 == 0) {
        atomicAdd(sum, v);
        atomicMax(most, m);
    }
}

int main() {
    int n = 200000;
    std::vector<unsigned char> in(n);
    std::vector<unsigned> want(256), got(256);
    unsigned state = 1;
    for (auto &x : in) {
        state = state * 1664525 + 1013904223;
        x = (state >> 24) & (state >> 16);
        want[x]++;
    }
    unsigned char *din;
    unsigned *bins, *most, hmost;
    unsigned long long *sum, hsum;
    CHECK(cudaMalloc(&din, n));
    CHECK(cudaMalloc(&bins, 1024));
    CHECK(cudaMalloc(&sum, 8));
    CHECK(cudaMalloc(&most, 4));
    CHECK(cudaMemcpy(din, in.data(), n, cudaMemcpyHostToDevice));
    CHECK(cudaMemset(bins, 0, 1024));
    CHECK(cudaMemset(sum, 0, 8));
    CHECK(cudaMemset(most, 0, 4));
    histogram<<<20, 256>>>(din, n, bins);
    reduce<<<1, 256>>>(bins, sum, most);
    CHECK(cudaMemcpy(got.data(), bins, 1024, cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy(&hsum, sum, 8, cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy(&hmost, most, 4, cudaMemcpyDeviceToHost));
    printf("bins %s, sum %llu, most %s\n", got == want ? "right" : "wrong", hsum, hmost == want[0] ? "right" : "wrong");
    return 0;
}
