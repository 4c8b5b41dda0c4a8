// Two streams, each with a part of its own: copy, kernel, copy back. And copies for which the host waits.
#include "../programs/check.h"

__global__ void step(int *p) { p[threadIdx.x] += 1; }

int main() {
    int *p, *host;
    cudaStream_t stream[2];
    CHECK(cudaMalloc(&p, 2048));
    CHECK(cudaMallocHost(&host, 2048));
    for (int i = 0; i < 512; i++) host[i] = i;
    for (int i = 0; i < 2; i++) CHECK(cudaStreamCreateWithFlags(&stream[i], cudaStreamNonBlocking));
    for (int round = 0; round < 3; round++)
        for (int i = 0; i < 2; i++) {
            CHECK(cudaMemcpyAsync(p + 256 * i, host + 256 * i, 1024, cudaMemcpyHostToDevice, stream[i]));
            step<<<1, 256, 0, stream[i]>>>(p + 256 * i);
            CHECK(cudaMemcpyAsync(host + 256 * i, p + 256 * i, 1024, cudaMemcpyDeviceToHost, stream[i]));
        }
    for (int i = 0; i < 2; i++) CHECK(cudaStreamSynchronize(stream[i]));
    printf("%d %d\n", host[0], host[511]);

    int plain[256];
    CHECK(cudaMemcpyAsync(plain, p, 1024, cudaMemcpyDeviceToHost, stream[0])); // memory that is not pinned: returns when it is done
    step<<<1, 256, 0, stream[1]>>>(p);
    CHECK(cudaStreamSynchronize(stream[1]));
    CHECK(cudaMemcpy(plain, p, 1024, cudaMemcpyDeviceToHost));
    step<<<1, 256, 0, stream[0]>>>(p);
    SHOW(cudaDeviceSynchronize());
    return 0;
}
