// A full mask in a loop that some lanes leave before others: they do other work before they exit, and never execute the vote.
#include "../programs/check.h"

__global__ void count(int *out, const int *in, int n) {
    int lane = threadIdx.x, found = 0;
    for (int i = lane; i < n; i += 32) found += __popc(__ballot_sync(0xffffffffu, in[i] > 0)); // reported: 8 lanes are there
    out[lane] = found;
}

int main() {
    int *p, host[256];
    CHECK(cudaMalloc(&p, sizeof host));
    for (int i = 0; i < 256; i++) host[i] = 1;
    CHECK(cudaMemcpy(p, host, sizeof host, cudaMemcpyHostToDevice));
    count<<<1, 32>>>(p + 100, p, 40);
    SHOW(cudaDeviceSynchronize());
    return 0;
}
