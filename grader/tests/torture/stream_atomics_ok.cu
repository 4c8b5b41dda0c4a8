// Two streams count in one word by atomics; it is read when both are done. Bytes of one word that two streams write.
#include "../programs/check.h"

__global__ void count(int *p) { atomicAdd(p, 1); }

__global__ void bytes(char *p, int first) { p[2 * threadIdx.x + first] = first; }

int main() {
    int *p, n;
    char *text;
    cudaStream_t stream[2];
    CHECK(cudaMalloc(&p, 4));
    CHECK(cudaMalloc(&text, 64));
    CHECK(cudaMemset(p, 0, 4));
    for (int i = 0; i < 2; i++) CHECK(cudaStreamCreate(&stream[i]));
    for (int i = 0; i < 2; i++) count<<<4, 64, 0, stream[i]>>>(p);
    for (int i = 0; i < 2; i++) bytes<<<1, 32, 0, stream[i]>>>(text, i);
    SHOW(cudaDeviceSynchronize());
    CHECK(cudaMemcpy(&n, p, 4, cudaMemcpyDeviceToHost));
    printf("%d\n", n);
    return 0;
}
