// Each half of a warp has a __syncwarp of its own, and then reads what lanes of the other half wrote; tiles of four likewise.
#include "../programs/check.h"

__global__ void halves(int *out) {
    __shared__ int s[32];
    int t = threadIdx.x;
    s[t] = t;
    __syncwarp(t < 16 ? 0xffffu : 0xffff0000u);
    out[t] = s[t ^ 16];
}

__global__ void in_global(int *p) {
    int t = threadIdx.x;
    p[t] = t + 1;
    if (t < 16) __syncwarp(0xffff);
    else __syncwarp(0xffff0000);
    p[64 + t] = p[t ^ 16];
}

__global__ void tiles(int *out) {
    __shared__ int s[32];
    int t = threadIdx.x;
    unsigned tile = 0xfu << (t & ~3);
    s[t] = t;
    __syncwarp(tile);
    int v = s[t ^ 1];
    __syncwarp(tile);
    s[t] = v + 1;
    __syncwarp(tile);
    out[t] = s[t ^ 4];
}

__global__ void shuffled(int *out) { // the first eight lanes meet alone
    __shared__ int s[32];
    int t = threadIdx.x, v = 0;
    s[t] = t;
    if (t < 8) v = __shfl_sync(0xff, t, 0), __syncwarp(0xff);
    out[t] = v + s[t < 8 ? (t ^ 4) & 7 | (t & 8) : t];
    if (t < 8) out[32 + t] = s[t + 8];
}

int main() {
    int *p;
    CHECK(cudaMalloc(&p, 1024));
    CHECK(cudaMemset(p, 0, 1024));
    halves<<<1, 32>>>(p);
    in_global<<<1, 32>>>(p);
    tiles<<<1, 32>>>(p);
    shuffled<<<1, 32>>>(p);
    SHOW(cudaDeviceSynchronize());
    return 0;
}
