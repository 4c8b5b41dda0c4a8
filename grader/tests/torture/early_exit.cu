// Threads, and whole warps, that leave before a barrier: it counts those that are left.
// also: --schedule hostile
#include "../programs/check.h"

__global__ void some_leave(int *out, int n) {
    __shared__ int s[128];
    int t = threadIdx.x;
    s[t] = 0;
    __syncthreads();
    if (t >= n) return;
    s[t] = t;
    __syncthreads();
    out[t] = s[n - 1 - t];
}

__global__ void one_by_one(int *out) {
    __shared__ int s[96];
    int t = threadIdx.x;
#pragma unroll 1 // copies of the loop's barrier would divide the lanes of a warp: barrier_unrolled.cu
    for (int i = 0; i < 96; i++) {
        if (t < i) return;
        if (t == i) s[i] = i;
        __syncthreads();
        if (t == 95) out[i] = s[i] + 1;
    }
}

int main() {
    int *p, host[128];
    CHECK(cudaMalloc(&p, sizeof host));
    const int sizes[] = {1, 31, 33, 64, 100, 128};
    for (int n : sizes) {
        CHECK(cudaMemset(p, 255, sizeof host));
        some_leave<<<1, 128>>>(p, n);
        CHECK(cudaMemcpy(host, p, sizeof host, cudaMemcpyDeviceToHost));
        int ok = 0;
        for (int i = 0; i < n; i++) ok += host[i] == n - 1 - i;
        printf("%d of %d\n", ok, n);
    }
    one_by_one<<<1, 96>>>(p);
    CHECK(cudaMemcpy(host, p, sizeof host, cudaMemcpyDeviceToHost));
    int ok = 0;
    for (int i = 0; i < 96; i++) ok += host[i] == i + 1;
    printf("%d of 96\n", ok);
    return 0;
}
