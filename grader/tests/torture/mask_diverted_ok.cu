// The same with a loop that all lanes leave together; and lanes that return before it, which count as exited.
#include "../programs/check.h"

__global__ void count(int *out, const int *in, int n) {
    int lane = threadIdx.x, found = 0;
    for (int base = 0; base < n; base += 32) {
        int i = base + lane;
        found += __popc(__ballot_sync(0xffffffffu, i < n && in[i] > 0));
    }
    out[lane] = found;
}

__global__ void leave(int *out, const int *in, int n) {
    int lane = threadIdx.x;
    if (lane >= n) return;
    out[lane] = __popc(__ballot_sync(0xffffffffu, in[lane] > 0));
}

__global__ void opportunistic(int *count, const int *in) { // a lane of those that happen to run together adds for all of them
    int lane = threadIdx.x % 32;
    if (in[threadIdx.x] > 0) {
        unsigned together = __activemask();
        if (lane == __ffs(together) - 1) atomicAdd(count, __popc(together));
        __syncwarp(together);
    }
}

int main() {
    int *p, host[256];
    CHECK(cudaMalloc(&p, sizeof host));
    for (int i = 0; i < 256; i++) host[i] = i % 3 ? 1 : -1;
    CHECK(cudaMemcpy(p, host, sizeof host, cudaMemcpyHostToDevice));
    count<<<1, 32>>>(p + 100, p, 40);
    leave<<<1, 32>>>(p + 140, p, 20);
    opportunistic<<<1, 64>>>(p + 200, p);
    SHOW(cudaDeviceSynchronize());
    return 0;
}
