// Concurrent atomics of device and host in shared memory: none is lost. Each side adds 1 to the same words
// a fixed number of times; the host starts after the kernel.
#include "check.h"

enum { TURNS = 20000, WORDS = 2 };

__global__ void count(unsigned *words, unsigned long long *wide, volatile int *begun, unsigned *old) {
    *begun = 1;
    for (int i = 0; i < TURNS; i++) {
        atomicAdd_system(words, 1);              // its result is not used
        *old |= atomicAdd_system(words + 1, 1); // its result is
        atomicAdd_system(wide, 1ull << 32);
    }
}

int main() {
    unsigned *words, *old;
    unsigned long long *wide;
    int *begun;
    CHECK(cudaHostAlloc(&words, WORDS * sizeof *words, cudaHostAllocMapped));
    CHECK(cudaMallocManaged(&wide, sizeof *wide));
    CHECK(cudaMallocManaged(&begun, sizeof *begun));
    CHECK(cudaMalloc(&old, sizeof *old));
    CHECK(cudaMemset(old, 0, sizeof *old));
    words[0] = words[1] = 0, *wide = 0, *begun = 0;
    count<<<1, 1>>>(words, wide, begun, old);
    while (!*(volatile int *)begun) continue;
    for (int i = 0; i < TURNS * 20; i++) {
        __atomic_fetch_add(words, 1, __ATOMIC_RELAXED);
        __atomic_fetch_add(words + 1, 1, __ATOMIC_RELAXED);
        __atomic_fetch_add(wide, 1ull << 32, __ATOMIC_RELAXED);
    }
    CHECK(cudaDeviceSynchronize());
    for (int i = 0; i < WORDS; i++) printf("%d lost\n", TURNS * 21 - (int)words[i]);
    printf("%d lost\n", TURNS * 21 - (int)(*wide >> 32));
    return 0;
}
