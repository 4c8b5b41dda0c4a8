// A grid barrier.
#include "check.h"
#include <cooperative_groups.h>
namespace cg = cooperative_groups;

__global__ void rotate(int *a, int *b, int n) {
    cg::grid_group grid = cg::this_grid();
    int i = (int)grid.thread_rank();
    for (int round = 0; round < 3; round++) {
        if (i < n) b[i] = a[(i + 1) % n];
        grid.sync();
        if (i < n) a[i] = b[i];
        grid.sync();
    }
}

int main() {
    int n = 1000, host[1000], *a, *b;
    for (int i = 0; i < n; i++) host[i] = i;
    CHECK(cudaMalloc(&a, sizeof host));
    CHECK(cudaMalloc(&b, sizeof host));
    CHECK(cudaMemcpy(a, host, sizeof host, cudaMemcpyHostToDevice));
    void *args[] = {&a, &b, &n};
    CHECK(cudaLaunchCooperativeKernel((const void *)rotate, dim3(8), dim3(128), args, 0, nullptr));
    CHECK(cudaMemcpy(host, a, sizeof host, cudaMemcpyDeviceToHost));
    int wrong = 0;
    for (int i = 0; i < n; i++) wrong += host[i] != (i + 3) % n;
    printf("%d wrong\n", wrong);
    return 0;
}
