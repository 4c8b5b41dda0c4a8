// tiles.cu — what the loop of a tiled matrix product costs an SM: 32 steps of a tile alone, with its two barriers, and with the two loads and
// stores that bring the next tile. Best of four launches; a line a case: cycles of an SM for each warp and step.
//
//   nvcc -O3 -std=c++17 -gencode arch=compute_90a,code=sm_90a grader/tests/timing/tiles.cu -o tiles; ./tiles
//
// Figures: tiles-h100.tsv in this folder. The loop has, for four steps, a load of 16 bytes at one address, four loads of neighbouring words and four
// multiply-adds: six wavefronts. A launch of 132 blocks, or a multiple, has as many on each SM.
#include <algorithm>
#include <cstdio>

constexpr int REPEATS = 256, TILE = 32, SMS = 132, ELEMENTS = 1 << 20;
enum work { LOADS, WITH_BARRIERS, WITH_COPIES };
static const char *const names[] = {"loads", "barriers", "copies"};

template <work W> __global__ void tiles(const float *__restrict__ in, float *out, long long *cycles) {
    __shared__ __align__(16) float a[2][TILE][TILE], b[2][TILE][TILE];
    int t = threadIdx.x, lane = t % TILE, row = t / TILE;
    for (int i = t; i < 2 * TILE * TILE; i += blockDim.x) (&a[0][0][0])[i] = (&b[0][0][0])[i] = i;
    __syncthreads();
    float sum = 0;
    long long start = clock64();
    for (int r = 0; r < REPEATS; r++) {
        int half = r % 2;
        if (W == WITH_COPIES) {
            a[half][row][lane] = in[(r * 2048 + blockIdx.x * 65536 + t) % ELEMENTS];
            b[half][row][lane] = in[(r * 2048 + 1024 + t) % ELEMENTS];
        }
        if (W != LOADS) __syncthreads();
#pragma unroll
        for (int k = 0; k < TILE; k++) sum = fmaf(a[half][row][k], b[half][k][lane], sum);
        if (W != LOADS) __syncthreads();
        else asm volatile("" ::: "memory");
    }
    long long end = clock64();
    out[(blockIdx.x * blockDim.x + t) % ELEMENTS] = sum;
    if (t == 0) cycles[blockIdx.x] = end - start;
}

template <work W> static void measure(const float *in, float *out, long long *cycles, int warps, int per_sm) {
    static long long host[SMS * 8];
    long long best = 1LL << 60;
    for (int i = 0; i < 4; i++) {
        tiles<W><<<SMS * per_sm, warps * 32>>>(in, out, cycles);
        cudaMemcpy(host, cycles, SMS * per_sm * sizeof *host, cudaMemcpyDeviceToHost);
        best = std::min(best, *std::max_element(host, host + SMS * per_sm));
    }
    printf("%s-%dx%d\t%.4f\n", names[W], per_sm, warps, (double)best / REPEATS / TILE / (warps * per_sm));
}

int main() {
    float *in, *out;
    long long *cycles;
    cudaMalloc(&in, ELEMENTS * sizeof *in), cudaMalloc(&out, ELEMENTS * sizeof *out), cudaMalloc(&cycles, SMS * 8 * sizeof *cycles);
    cudaMemset(in, 0, ELEMENTS * sizeof *in);
    static const int shapes[][2] = {{8, 1}, {8, 2}, {8, 4}, {8, 8}, {32, 1}, {32, 2}};
    for (auto &s : shapes) measure<LOADS>(in, out, cycles, s[0], s[1]);
    for (auto &s : shapes) measure<WITH_BARRIERS>(in, out, cycles, s[0], s[1]);
    for (auto &s : shapes) measure<WITH_COPIES>(in, out, cycles, s[0], s[1]);
    return cudaDeviceSynchronize() != cudaSuccess;
}
