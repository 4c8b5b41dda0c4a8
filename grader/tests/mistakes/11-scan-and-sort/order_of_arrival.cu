// Blocks take what lies before them from a counter, in the order in which they come.
// lesson: chapters/11-scan-and-sort/quiz.md, 5. Find the error
// missed: it breaks no rule of CUDA; a second run with other block order shows the wrong sums (the grader does one)
#include "../mistake.h"

__global__ void totals(int *total, const int *in) {
    if (threadIdx.x == 0)
        for (int i = 0; i < 32; i++) total[blockIdx.x] += in[32 * blockIdx.x + i];
}
__global__ void scan(int *out, const int *total, int *running) {
    __shared__ int before;
    if (threadIdx.x == 0) {
#ifdef MISTAKE
        before = atomicAdd(running, total[blockIdx.x]);
#else
        before = 0;
        for (int b = 0; b < blockIdx.x; b++) before += total[b];
#endif
    }
    __syncthreads();
    out[32 * blockIdx.x + threadIdx.x] = before;
}

int main() {
    int *in = counting(128), *total = zeros(4), *out = zeros(128), *running = zeros(1);
    totals<<<4, 32>>>(total, in);
    scan<<<4, 32>>>(out, total, running);
    CHECK(cudaDeviceSynchronize());
    EXPECT(element(out, 64) == 63 * 32);
    return 0;
}
