// The address comes as eight bytes out of order.
#include "../programs/check.h"

struct bytes {
    unsigned char b[8];
};

__global__ void count(struct bytes a) {
    unsigned long long v = 0;
    for (int i = 0; i < 8; i++) v = v << 8 | a.b[i];
    int *p = (int *)v;
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
    unsigned long long at = (unsigned long long)p;
    bytes a;
    for (int i = 0; i < 8; i++) a.b[i] = at >> (56 - 8 * i);
    count<<<8, 32>>>(a);
    SHOW(cudaDeviceSynchronize());
    return 0;
}
