// A kernel in one stream uses what a kernel in another makes: no event, no synchronisation.
#include "../programs/check.h"

__global__ void make(int *p) { p[threadIdx.x] = threadIdx.x; }

__global__ void use(const int *p, int *q) { q[threadIdx.x] = 2 * p[threadIdx.x]; } // reported

int main() {
    int *p, *q, host[64];
    cudaStream_t one, two;
    CHECK(cudaMalloc(&p, sizeof host));
    CHECK(cudaMalloc(&q, sizeof host));
    CHECK(cudaStreamCreate(&one));
    CHECK(cudaStreamCreate(&two));
    make<<<1, 64, 0, one>>>(p);
    use<<<1, 64, 0, two>>>(p, q);
    SHOW(cudaDeviceSynchronize());
    CHECK(cudaMemcpy(host, q, sizeof host, cudaMemcpyDeviceToHost));
    printf("%d\n", host[9]);
    return 0;
}
