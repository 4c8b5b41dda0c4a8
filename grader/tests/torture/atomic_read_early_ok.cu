// The thread that adds last, by a ticket, reads it.
#include "../programs/check.h"

__global__ void count(int *p) {
    __shared__ int s, ticket;
    if (threadIdx.x == 0) s = ticket = 0;
    __syncthreads();
    atomicAdd(&s, 1);
    __threadfence_block();
    if (atomicAdd(&ticket, 1) == 127) p[0] = atomicAdd(&s, 0);
}

int main() {
    int *p, host[256] = {0};
    CHECK(cudaMalloc(&p, sizeof host));
    CHECK(cudaMemset(p, 0, sizeof host));
    count<<<1, 128>>>(p);
    SHOW(cudaMemcpy(host, p, sizeof host, cudaMemcpyDeviceToHost));
    printf("%d %d\n", host[0], host[255]);
    return 0;
}
