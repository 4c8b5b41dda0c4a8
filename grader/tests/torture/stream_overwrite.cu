// What one stream still reads, another overwrites; and an event that is recorded before the work that it is to stand for.
#include "../programs/check.h"

__global__ void sum(const float *p, float *out) {
    float s = 0;
    for (int i = 0; i < 32; i++) s += p[32 * threadIdx.x + i];
    out[threadIdx.x] = s;
}

__global__ void fill(float *p, float x) { p[blockIdx.x * blockDim.x + threadIdx.x] = x; } // reported: after the read

__global__ void scale(float *p) { p[threadIdx.x] *= 2; } // reported: after the event

int main() {
    float *p, *out;
    cudaStream_t one, two;
    cudaEvent_t early;
    CHECK(cudaMalloc(&p, 4096 * sizeof(float)));
    CHECK(cudaMalloc(&out, 4096 * sizeof(float)));
    CHECK(cudaMemset(p, 0, 4096 * sizeof(float)));
    CHECK(cudaStreamCreate(&one));
    CHECK(cudaStreamCreateWithFlags(&two, cudaStreamNonBlocking));
    CHECK(cudaEventCreate(&early));
    CHECK(cudaDeviceSynchronize());
    sum<<<1, 64, 0, one>>>(p, out);
    fill<<<16, 256, 0, two>>>(p, 1);
    CHECK(cudaDeviceSynchronize());

    CHECK(cudaEventRecord(early, one));
    fill<<<16, 256, 0, one>>>(p, 2);
    CHECK(cudaStreamWaitEvent(two, early));
    scale<<<1, 64, 0, two>>>(p);
    SHOW(cudaDeviceSynchronize());
    return 0;
}
