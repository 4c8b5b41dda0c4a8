// A stream that waits for the default stream, as streams do that are made without flags; and one that has been waited for.
#include "../programs/check.h"

__global__ void add(int *p, int x) { p[threadIdx.x] += x; }

int main() {
    int *p, host[32];
    cudaStream_t stream, apart;
    CHECK(cudaMalloc(&p, sizeof host));
    CHECK(cudaMemset(p, 0, sizeof host));
    CHECK(cudaStreamCreate(&stream));
    CHECK(cudaStreamCreateWithFlags(&apart, cudaStreamNonBlocking));
    add<<<1, 32, 0, stream>>>(p, 1);
    add<<<1, 32>>>(p, 2);
    add<<<1, 32, 0, stream>>>(p, 4);
    CHECK(cudaMemcpy(host, p, sizeof host, cudaMemcpyDeviceToHost));
    add<<<1, 32, 0, apart>>>(p, 8); // the copy was waited for
    CHECK(cudaStreamSynchronize(apart));
    add<<<1, 32>>>(p, 16);
    SHOW(cudaDeviceSynchronize());
    printf("%d\n", host[0]);
    return 0;
}
