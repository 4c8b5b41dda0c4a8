// grid.cu — question 6: many small steps: a launch for each, or one cooperative launch whose blocks wait for each other.
#include <cooperative_groups.h>
#include <cstdio>
namespace cg = cooperative_groups;

constexpr int THREADS = 128, BLOCKS = 4, N = THREADS * BLOCKS, STEPS = 6;

// The mean of the two neighbours; the ends stay.
__device__ float relaxed(const float *u, int i) {
    return i == 0 || i == N - 1 ? u[i] : 0.5f * (u[i - 1] + u[i + 1]);
}

extern "C" __global__ void one_step(float *to, const float *from) {
    int i = blockIdx.x * THREADS + threadIdx.x;
    to[i] = relaxed(from, i);
}

extern "C" __global__ void all_steps(float *u, float *v) {
    cg::grid_group grid = cg::this_grid();
    int i = blockIdx.x * THREADS + threadIdx.x;
    for (int k = 0; k < STEPS; k++) {
        (k % 2 ? u : v)[i] = relaxed(k % 2 ? v : u, i);
        grid.sync(); // all blocks of the grid have written
    }
}

int main() {
    float *a, *b, *c, *d;
    cudaMallocManaged(&a, N * sizeof *a), cudaMallocManaged(&b, N * sizeof *b);
    cudaMallocManaged(&c, N * sizeof *c), cudaMallocManaged(&d, N * sizeof *d);
    for (int i = 0; i < N; i++) a[i] = c[i] = i % 37;

    for (int k = 0; k < STEPS; k++) one_step<<<BLOCKS, THREADS>>>(k % 2 ? a : b, k % 2 ? b : a);

    int device, sms, an_sm;
    cudaGetDevice(&device);
    cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device);
    cudaOccupancyMaxActiveBlocksPerMultiprocessor(&an_sm, all_steps, THREADS, 0);
    if (BLOCKS > an_sm * sms) return 1; // all of them must fit at one time
    void *arguments[] = {&c, &d};
    cudaError_t e = cudaLaunchCooperativeKernel((void *)all_steps, BLOCKS, THREADS, arguments, 0, 0);
    cudaDeviceSynchronize();
    int bad = e != cudaSuccess;
    for (int i = 0; i < N; i++) bad += a[i] != c[i];
    printf("%d differ\n", bad);
    return bad != 0;
}
