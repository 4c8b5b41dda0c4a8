// shuffles.cu: All shuffles of a whole warp, by each distance and width. The distance is the same in all lanes, or not. Expected are
// the sources that the Programming Guide names ("Warp Shuffle Functions").
#include "check.h"

__device__ unsigned shuffle(int mode, unsigned value, unsigned distance, int width) {
    switch (mode) {
    case 0: return __shfl_up_sync(~0u, value, distance, width);
    case 1: return __shfl_down_sync(~0u, value, distance, width);
    case 2: return __shfl_xor_sync(~0u, value, distance, width);
    default: return __shfl_sync(~0u, value, distance, width);
    }
}

__global__ void shuffles(unsigned *out, int mode, int step) {
    unsigned lane = threadIdx.x;
    for (int log2 = 0; log2 <= 5; log2++)
        for (unsigned distance = 0; distance < 32; distance++)
            out[(log2 * 32 + distance) * 32 + lane] =
                shuffle(mode, lane * 3 + distance, (distance + step * lane) % 32, 1 << log2);
}

static int source(int mode, int lane, int distance, int width) {
    int group = lane / width * width, place = lane - group;
    if (mode == 0) return distance <= place ? lane - distance : lane;
    if (mode == 1) return place + distance < width ? lane + distance : lane;
    if (mode == 2) return (lane ^ distance) < group + width ? lane ^ distance : lane;
    return group + distance % width;
}

int main() {
    static unsigned host[6 * 32 * 32];
    unsigned *out, wrong = 0;
    CHECK(cudaMalloc(&out, sizeof host));
    for (int run = 0; run < 8; run++) {
        int mode = run / 2, step = run % 2;
        shuffles<<<1, 32>>>(out, mode, step);
        CHECK(cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost));
        for (int i = 0; i < 6 * 32 * 32; i++) {
            int lane = i % 32, distance = i / 32 % 32, width = 1 << i / 1024;
            unsigned from = source(mode, lane, (distance + step * lane) % 32, width);
            wrong += host[i] != from * 3 + distance;
        }
    }
    printf("%u wrong\n", wrong);
}
