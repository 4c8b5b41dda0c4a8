// Named barriers: half of the block produces, half consumes, with bar.arrive and bar.sync on two barriers in turn.
// also: --schedule hostile
#include "../programs/check.h"

__device__ void wait(int id) { asm volatile("bar.sync %0, 128;" ::"r"(id) : "memory"); }
__device__ void arrive(int id) { asm volatile("bar.arrive %0, 128;" ::"r"(id) : "memory"); }

__global__ void pipeline(int *out) {
    __shared__ int box[64];
    int t = threadIdx.x, sum = 0;
    if (t < 64) { // producers
        for (int i = 0; i < 10; i++) {
            if (i) wait(2);
            box[t] = i * 100 + t;
            __threadfence_block();
            arrive(1);
        }
    } else {
        for (int i = 0; i < 10; i++) {
            wait(1);
            sum += box[127 - t];
            if (i < 9) arrive(2);
        }
        out[t - 64] = sum;
    }
}

int main() {
    int *p, host[64], ok = 0;
    CHECK(cudaMalloc(&p, sizeof host));
    pipeline<<<3, 128>>>(p);
    CHECK(cudaMemcpy(host, p, sizeof host, cudaMemcpyDeviceToHost));
    for (int i = 0; i < 64; i++) ok += host[i] == 4500 + 10 * (63 - i);
    printf("%d of 64\n", ok);
    return 0;
}
