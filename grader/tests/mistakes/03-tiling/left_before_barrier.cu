// Threads beyond the end return before the barrier, and the halo that they should load stays empty.
// lesson: chapters/03-tiling/quiz.md, 4. Find the error
// expect: uninitialized
#include "../mistake.h"

__global__ void difference(int *out, const int *in, int n) { // out[i] = in[i] - in[i + 1], 0 behind the end
    __shared__ int tile[64];
    int t = threadIdx.x;
#ifdef MISTAKE
    if (t >= n) return;
    tile[t] = in[t];
#else
    tile[t] = t < n ? in[t] : 0;
#endif
    __syncthreads();
    if (t < n) out[t] = tile[t] - tile[t + 1]; // reported
}

int main() {
    int *in = counting(50), *out = zeros(50), host[50];
    difference<<<1, 64>>>(out, in, 50);
    CHECK(cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost));
    EXPECT(host[49] == 49);
    return 0;
}
