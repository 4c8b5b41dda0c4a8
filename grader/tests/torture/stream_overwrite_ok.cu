// Two streams that read the same and write halves of their own, and meet by events at the end.
#include "../programs/check.h"

__global__ void half(const float *in, float *out, int first) {
    int i = first + blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = in[i] + in[4095 - i];
}

__global__ void every_other(float *out, int first) { out[2 * (blockIdx.x * blockDim.x + threadIdx.x) + first] += 1; }

int main() {
    float *in, *out, host[2];
    cudaStream_t stream[2];
    cudaEvent_t done[2];
    CHECK(cudaMalloc(&in, 4096 * sizeof(float)));
    CHECK(cudaMalloc(&out, 4096 * sizeof(float)));
    CHECK(cudaMemset(in, 0, 4096 * sizeof(float)));
    for (int i = 0; i < 2; i++) CHECK(cudaStreamCreate(&stream[i]));
    for (int i = 0; i < 2; i++) CHECK(cudaEventCreate(&done[i]));
    for (int i = 0; i < 2; i++) half<<<8, 256, 0, stream[i]>>>(in, out, 2048 * i);
    for (int i = 0; i < 2; i++) CHECK(cudaEventRecord(done[i], stream[i]));
    for (int i = 0; i < 2; i++) CHECK(cudaStreamWaitEvent(stream[i], done[1 - i]));
    for (int i = 0; i < 2; i++) every_other<<<8, 256, 0, stream[i]>>>(out, i);
    CHECK(cudaMemcpy(host, out + 2047, sizeof host, cudaMemcpyDeviceToHost)); // the default stream waits for both
    printf("%.0f %.0f\n", host[0], host[1]);
    SHOW(cudaDeviceSynchronize());
    return 0;
}
