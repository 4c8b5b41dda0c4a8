// An atomic of one lane, a plain access of another lane of its warp, with nothing between.
#include "../programs/check.h"

__global__ void read_early(int *p) {
    atomicAdd(p, 1);

    if (threadIdx.x == 3) p[64] = p[0];
}

__global__ void write_late(int *p) {
    if (threadIdx.x == 5) p[1] = 5;

    atomicAdd(p + 1, 1);
}

int main() {
    int *p;
    CHECK(cudaMalloc(&p, 1024));
    CHECK(cudaMemset(p, 0, 1024));
    read_early<<<1, 32>>>(p);
    write_late<<<1, 32>>>(p);
    SHOW(cudaDeviceSynchronize());
    return 0;
}
