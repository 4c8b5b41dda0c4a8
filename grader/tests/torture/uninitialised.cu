// Reads of what nothing wrote: global, shared and local memory. The program goes on; each is told where the values are read
// back, with the place of the load.
#include "../programs/check.h"

__global__ void from_global(const int *raw, int *p) { p[threadIdx.x] = raw[threadIdx.x]; } // reported

__global__ void from_shared(int *p) {
    __shared__ int s[64];
    int t = threadIdx.x;
    if (t < 24) s[t] = t;
    __syncthreads();
    p[t] = s[t]; // reported
}

__global__ void from_local(int *p, int n) {
    int a[8];
    for (int i = 0; i < n; i++) a[i] = i + p[0];
    p[32 + threadIdx.x] = a[threadIdx.x % 8]; // reported
}

int main() {
    int *raw, *p, host[64];
    CHECK(cudaMalloc(&raw, 128));
    CHECK(cudaMalloc(&p, 256));
    CHECK(cudaMemset(p, 0, 256));
    CHECK(cudaMemset(raw, 0, 120));
    from_global<<<3, 32>>>(raw, p);
    CHECK(cudaMemcpy(host, p, 256, cudaMemcpyDeviceToHost));
    from_shared<<<1, 32>>>(p);
    CHECK(cudaMemcpy(host, p, 256, cudaMemcpyDeviceToHost));
    from_local<<<1, 32>>>(p, 5);
    CHECK(cudaMemcpy(host, p, 256, cudaMemcpyDeviceToHost));
    SHOW(cudaDeviceSynchronize());
    return 0;
}
