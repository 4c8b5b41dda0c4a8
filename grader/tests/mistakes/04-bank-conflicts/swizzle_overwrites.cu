// A swizzle that sends two columns of a row to one place.
// lesson: chapters/04-bank-conflicts/swizzle.md, Hint 2
// expect: data race in shared memory
#include "../mistake.h"

__device__ int place(int row, int column) {
#ifdef MISTAKE
    return row * column % 32;
#else
    return row ^ column;
#endif
}
__global__ void transpose(int *out, const int *in) {
    __shared__ int tile[32][32];
    int t = threadIdx.x;
    for (int r = 0; r < 32; r++) tile[r][place(r, t)] = in[32 * r + t]; // reported
    __syncthreads();
    for (int r = 0; r < 32; r++) out[32 * r + t] = tile[t][place(t, r)];
}

int main() {
    int *in = counting(1024), *out = zeros(1024);
    transpose<<<1, 32>>>(out, in);
    CHECK(cudaDeviceSynchronize());
    EXPECT(element(out, 1) == 32);
    return 0;
}
