// In the second round, lanes for which there is no warp contribute what nobody wrote.
// lesson: chapters/05-atomics-reduction/sum_reduce.md, Hint 3
// expect: uninitialized
#include "../mistake.h"

__global__ void sum(int *out, const int *in) {
    __shared__ int part[32];
    int t = threadIdx.x, v = in[t];
    for (int d = 16; d > 0; d /= 2) v += __shfl_down_sync(0xffffffffu, v, d);
    if (t % 32 == 0) part[t / 32] = v;
    __syncthreads();
    if (t >= 32) return;
#ifdef MISTAKE
    v = part[t];
#else
    v = t < 8 ? part[t] : 0;
#endif
    for (int d = 16; d > 0; d /= 2) v += __shfl_down_sync(0xffffffffu, v, d);
    if (t == 0) *out = v;
}

int main() {
    int *in = counting(256), *out = zeros(1), host;
    sum<<<1, 256>>>(out, in);
    CHECK(cudaMemcpy(&host, out, sizeof host, cudaMemcpyDeviceToHost));
    EXPECT(host == 255 * 128);
    return 0;
}
