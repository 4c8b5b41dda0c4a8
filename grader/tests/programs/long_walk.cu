// All blocks walk over flags that are set already: they repeat one short loop for long, in which
// only a pointer changes. That is no livelock.
// run: --time
// stderr: simgpu: walk: 
#include "check.h"

constexpr int BLOCKS = 600, FLAGS = 1000;

__global__ void walk(volatile int *flags, int *sums) {
    __shared__ int sum;
    if (threadIdx.x == 0) {
        int s = 0;
#pragma unroll 1
        for (int i = FLAGS - 1; i >= 0; i--) {
            int flag;
            do flag = flags[i];
            while (flag == 0);
            s += flag;
        }
        sum = s;
    }
    __syncthreads();
    if (threadIdx.x == 64) sums[blockIdx.x] = sum;
}

int main() {
    int *flags, *sums, host[BLOCKS], wrong = 0;
    CHECK(cudaMalloc(&flags, FLAGS * sizeof *flags));
    CHECK(cudaMalloc(&sums, sizeof host));
    CHECK(cudaMemset(flags, 1, FLAGS * sizeof *flags));
    walk<<<BLOCKS, 256>>>(flags, sums);
    SHOW(cudaDeviceSynchronize());
    CHECK(cudaMemcpy(host, sums, sizeof host, cudaMemcpyDeviceToHost));
    for (int i = 0; i < BLOCKS; i++) wrong += (unsigned)host[i] != FLAGS * 0x01010101u;
    printf("%d wrong\n", wrong);
    return 0;
}
