// The address comes from a table in memory.
#include "../programs/check.h"

__global__ void count(int *const *table) {
    int *p = table[1];
    if (threadIdx.x) return;
#ifdef FIXED
    atomicAdd(p, 1);
#else
    *p = *p + 1; // reported
#endif
}

int main() {
    int *p, *decoy;
    CHECK(cudaMalloc(&p, 4));
    CHECK(cudaMalloc(&decoy, 4));
    CHECK(cudaMemset(p, 0, 4));
    int **table, *entries[2] = {decoy, p};
    CHECK(cudaMalloc(&table, sizeof entries));
    CHECK(cudaMemcpy(table, entries, sizeof entries, cudaMemcpyHostToDevice));
    count<<<8, 32>>>(table);
    SHOW(cudaDeviceSynchronize());
    return 0;
}
