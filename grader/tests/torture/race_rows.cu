// Whole rows of a warp's width in global memory, and what is less than a row beside or over them.
#include "../programs/check.h"

__global__ void over(int *p) { // blocks store whole rows, block 2 also a word of block 1's
    p[blockIdx.x * 64 + threadIdx.x] = threadIdx.x;
    if (blockIdx.x == 2 && threadIdx.x == 0) p[77] = -1; // reported: element 77, once
}

__global__ void look(int *p, int *q) { // block 1 reads a row that block 0 stores
    if (blockIdx.x == 0) p[threadIdx.x] = 1;
    else q[threadIdx.x] = p[32 + threadIdx.x]; // reported: elements 32 to 63
}

__global__ void within(int *p) { // the second warp reads a word of the first one's row
    p[threadIdx.x] = threadIdx.x;
    if (threadIdx.x == 40) p[threadIdx.x] = p[7]; // reported
}

__global__ void halves(int *p) { p[blockIdx.x * 16 + threadIdx.x] = blockIdx.x; } // silent: a row has two blocks

__global__ void same(int *p) { p[threadIdx.x] = 5; } // silent: all blocks leave the same

__global__ void most(int *p) { p[threadIdx.x] = threadIdx.x == 9 ? blockIdx.x : 5; } // reported: element 9, once

__global__ void wide(double2 *p) { // silent: rows of 16 bytes a lane, then read back by the same threads
    p[blockIdx.x * 32 + threadIdx.x] = make_double2(blockIdx.x, threadIdx.x);
    double2 v = p[blockIdx.x * 32 + threadIdx.x];
    p[blockIdx.x * 32 + threadIdx.x] = make_double2(v.y, v.x);
}

__global__ void again(int *p) { // silent: barriers between
    p[threadIdx.x] = threadIdx.x;
    __syncthreads();
    int v = p[63 - threadIdx.x];
    __syncthreads();
    p[threadIdx.x] = v;
}

int main() {
    int *p, *q;
    CHECK(cudaMalloc(&p, 65536));
    CHECK(cudaMalloc(&q, 65536));
    over<<<4, 64>>>(p);
    look<<<2, 64>>>(p, q);
    within<<<1, 64>>>(p);
    halves<<<8, 16>>>(p);
    same<<<4, 32>>>(p);
    most<<<4, 32>>>(p);
    wide<<<8, 32>>>((double2 *)p);
    again<<<1, 64>>>(p);
    SHOW(cudaDeviceSynchronize());
    return 0;
}
