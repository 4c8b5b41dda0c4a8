// Lanes of one warp that wait for each other in a chain, through global and through shared memory; a mailbox between two.
// also: --schedule hostile
#include "../programs/check.h"

__global__ void chain(volatile int *turn, int *order) {
    int lane = threadIdx.x;
    while (*turn != lane) {}
    order[lane] = *turn;
    __threadfence();
    *turn = lane + 1;
}

__global__ void mailbox(int *out) {
    __shared__ volatile int full, letter;
    if (threadIdx.x == 0) full = 0;
    __syncthreads();
    int sum = 0;
    if (threadIdx.x == 0) { // producer
        for (int i = 1; i <= 20; i++) {
            while (full) {}
            letter = i * i;
            __threadfence_block();
            full = 1;
        }
    } else if (threadIdx.x == 1) { // consumer
        for (int i = 1; i <= 20; i++) {
            while (!full) {}
            __threadfence_block();
            sum += letter;
            __threadfence_block();
            full = 0;
        }
        *out = sum;
    }
}

int main() {
    int *p, host[34], ok = 0;
    CHECK(cudaMalloc(&p, sizeof host));
    CHECK(cudaMemset(p, 0, sizeof host));
    chain<<<1, 32>>>(p, p + 1);
    mailbox<<<1, 64>>>(p + 33);
    CHECK(cudaMemcpy(host, p, sizeof host, cudaMemcpyDeviceToHost));
    for (int i = 0; i < 32; i++) ok += host[1 + i] == i;
    printf("turn %d, %d in order, letters %d\n", host[0], ok, host[33]);
    return 0;
}
