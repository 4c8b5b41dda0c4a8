// Memory that one stream frees and another is given; streams that come and go; more streams than are kept apart.
#include "../programs/check.h"

__global__ void fill(int *p, int x) { p[threadIdx.x] = x; }

int main() {
    cudaStream_t one, two, many[80];
    int *p, *q, *all;
    CHECK(cudaStreamCreate(&one));
    CHECK(cudaStreamCreate(&two));
    CHECK(cudaMallocAsync(&p, 4096, one));
    fill<<<1, 1024, 0, one>>>(p, 1);
    CHECK(cudaFreeAsync(p, one));
    CHECK(cudaMallocAsync(&q, 4096, two));
    fill<<<1, 1024, 0, two>>>(q, 2);
    CHECK(cudaFreeAsync(q, two));
    CHECK(cudaMalloc(&all, 80 * 128));
    for (int i = 0; i < 80; i++) CHECK(cudaStreamCreate(&many[i]));
    for (int i = 0; i < 80; i++) fill<<<1, 32, 0, many[i]>>>(all + 32 * i, i);
    for (int i = 0; i < 80; i++) CHECK(cudaStreamDestroy(many[i]));
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaStreamDestroy(one));
    CHECK(cudaStreamCreateWithFlags(&one, cudaStreamNonBlocking));
    fill<<<1, 1024, 0, one>>>(all, 3);
    SHOW(cudaDeviceSynchronize());
    return 0;
}
