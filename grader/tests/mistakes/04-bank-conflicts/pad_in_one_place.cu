// The tile's rows have a pad, and its room was computed without one.
// lesson: chapters/04-bank-conflicts/transpose_padded.md, Hint 3
// expect: out-of-bounds
#include "../mistake.h"

constexpr int ROW = 33;
__global__ void transpose(int *out, const int *in) {
    extern __shared__ int tile[];
    int t = threadIdx.x;
    for (int r = 0; r < 32; r++) tile[r * ROW + t] = in[32 * r + t]; // reported
    __syncthreads();
    for (int r = 0; r < 32; r++) out[32 * r + t] = tile[t * ROW + r];
}

int main() {
#ifdef MISTAKE
    size_t room = 32 * 32 * sizeof(int);
#else
    size_t room = 32 * ROW * sizeof(int);
#endif
    int *in = counting(1024), *out = zeros(1024);
    transpose<<<1, 32, room>>>(out, in);
    CHECK(cudaDeviceSynchronize());
    EXPECT(element(out, 1) == 32);
    return 0;
}
