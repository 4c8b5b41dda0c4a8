// Warps that load and warps that compute count on one named barrier, for different numbers of rounds.
// lesson: chapters/13-async/README.md, A block that waits
// expect: barrier divergence
#include "../mistake.h"

__global__ void roles(int *out, const int *in, int tiles) {
    __shared__ int tile[32];
    int lane = threadIdx.x % 32;
    if (threadIdx.x < 32) {
        for (int i = 0; i < tiles; i++) {
            tile[lane] = in[32 * i + lane];
            asm volatile("bar.sync 1, 64;" ::: "memory"); // full
            asm volatile("bar.sync 2, 64;" ::: "memory"); // empty
        }
    } else {
        int sum = 0;
#ifdef MISTAKE
        int rounds = tiles + 1;
#else
        int rounds = tiles;
#endif
        for (int i = 0; i < rounds; i++) {
            asm volatile("bar.sync 1, 64;" ::: "memory");
            sum += tile[31 - lane];
            asm volatile("bar.sync 2, 64;" ::: "memory");
        }
        out[lane] = sum;
    }
}

int main() {
    int *in = counting(128), *out = zeros(32);
    roles<<<1, 64>>>(out, in, 4);
    CHECK(cudaDeviceSynchronize());
    EXPECT(element(out) == 4 * 31 + 32 * 6);
    return 0;
}
