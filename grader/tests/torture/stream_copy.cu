// Copies and fills beside the kernels that need them: from the host, to the host, within the device, a fill.
#include "../programs/check.h"

__global__ void step(int *p) { p[threadIdx.x] += 1; } // reported twice

__global__ void look(const int *p, int *q) { q[threadIdx.x] = p[threadIdx.x]; } // reported: after the fill

int main() {
    int *p, *q, *host, *back;
    cudaStream_t copies, work;
    CHECK(cudaMalloc(&p, 1024));
    CHECK(cudaMalloc(&q, 1024));
    CHECK(cudaMallocHost(&host, 1024));
    CHECK(cudaMallocHost(&back, 1024));
    for (int i = 0; i < 256; i++) host[i] = i;
    CHECK(cudaStreamCreate(&copies));
    CHECK(cudaStreamCreate(&work));
    CHECK(cudaMemcpyAsync(p, host, 1024, cudaMemcpyHostToDevice, copies));
    step<<<1, 256, 0, work>>>(p);
    CHECK(cudaDeviceSynchronize());

    step<<<1, 256, 0, work>>>(p);
    CHECK(cudaMemcpyAsync(back, p, 1024, cudaMemcpyDeviceToHost, copies)); // reported
    CHECK(cudaDeviceSynchronize());

    CHECK(cudaMemsetAsync(p, 0, 1024, copies));
    look<<<1, 256, 0, work>>>(p, q);
    CHECK(cudaDeviceSynchronize());

    look<<<1, 256, 0, work>>>(p, q);
    CHECK(cudaMemcpyAsync(p, q, 1024, cudaMemcpyDeviceToDevice, copies)); // reported
    SHOW(cudaDeviceSynchronize());
    return 0;
}
