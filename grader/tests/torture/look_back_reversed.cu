// Each block waits for the value of the next one: more blocks than the device holds, so the ones that run wait for ones that
// cannot start. The number of polls is counted, so registers change in the loop.
// run: --device t4 --budget 100000000
#include "../programs/check.h"

__global__ void carry(volatile int *state, int *polls) {
    if (threadIdx.x) return;
    int n = 0;
    if (blockIdx.x + 1 < gridDim.x)
        while (state[blockIdx.x + 1] == 0) n++;
    state[blockIdx.x] = 1;
    polls[blockIdx.x] = n;
}

int main() {
    int *state, *polls;
    CHECK(cudaMalloc(&state, 50 * sizeof *state));
    CHECK(cudaMalloc(&polls, 50 * sizeof *polls));
    CHECK(cudaMemset(state, 0, 50 * sizeof *state));
    carry<<<50, 1024>>>(state, polls); // 40 SMs of one such block each
    SHOW(cudaDeviceSynchronize());
    return 0;
}
