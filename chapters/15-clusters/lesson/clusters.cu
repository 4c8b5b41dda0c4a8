// clusters.cu — what the lesson of chapter 15 counts and shows.
#include <cooperative_groups.h>
#include <cstdio>
namespace cg = cooperative_groups;

constexpr int THREADS = 256, BLOCKS = 8, N = THREADS * BLOCKS;

// Far more work than a subtraction.
__device__ float height(float x) {
    for (int k = 0; k < 16; k++) x = 0.5f * (x + 2.0f / x);
    return x;
}

// How much each height is above the next one; after the last comes the first. The last thread of a block computes its neighbour's height, too.
extern "C" __global__ void steps_alone(float *out, const float *x) {
    __shared__ float y[THREADS + 1];
    int t = threadIdx.x, i = blockIdx.x * THREADS + t;
    y[t] = height(x[i]);
    if (t == THREADS - 1) y[THREADS] = height(x[(i + 1) % N]);   // the next block computes it, too
    __syncthreads();
    out[i] = y[t] - y[t + 1];
}

extern "C" __global__ void __cluster_dims__(BLOCKS) steps_together(float *out, const float *x) {
    __shared__ float y[THREADS];
    cg::cluster_group cluster = cg::this_cluster();
    int t = threadIdx.x, i = blockIdx.x * THREADS + t;
    y[t] = height(x[i]);
    cluster.sync();                                              // all blocks have theirs
    float *next = cluster.map_shared_rank(y, (cluster.block_rank() + 1) % BLOCKS);
    out[i] = y[t] - (t + 1 < THREADS ? y[t + 1] : next[0]);
    cluster.sync();                                              // no block ends while others read
}

// The same, but each block writes into the one before it.
extern "C" __global__ void __cluster_dims__(BLOCKS) steps_told(float *out, const float *x) {
    __shared__ float y[THREADS + 1];
    cg::cluster_group cluster = cg::this_cluster();
    int t = threadIdx.x, i = blockIdx.x * THREADS + t;
    auto started = cluster.barrier_arrive();                     // I run: you may write into my memory
    y[t] = height(x[i]);
    cluster.barrier_wait(std::move(started));                    // all others run, too
    float *before = cluster.map_shared_rank(y, (cluster.block_rank() + BLOCKS - 1) % BLOCKS);
    if (t == 0) before[THREADS] = y[0];
    cluster.sync();                                              // all values have arrived
    out[i] = y[t] - y[t + 1];
}

// A block reads what another one has: neighbouring words, words 32 apart, and all lanes one word.
extern "C" __global__ void __cluster_dims__(2) neighbours(float *out) {
    __shared__ float y[1024];
    cg::cluster_group cluster = cg::this_cluster();
    for (int k = threadIdx.x; k < 1024; k += 32) y[k] = k;
    cluster.sync();
    float *other = cluster.map_shared_rank(y, cluster.block_rank() ^ 1);
    float sum = 0.0f;
    for (int k = 0; k < 32; k++) sum += other[32 * k + threadIdx.x];
    out[blockIdx.x * 32 + threadIdx.x] = sum;
    cluster.sync();
}

extern "C" __global__ void __cluster_dims__(2) columns(float *out) {
    __shared__ float y[1024];
    cg::cluster_group cluster = cg::this_cluster();
    for (int k = threadIdx.x; k < 1024; k += 32) y[k] = k;
    cluster.sync();
    float *other = cluster.map_shared_rank(y, cluster.block_rank() ^ 1);
    float sum = 0.0f;
    for (int k = 0; k < 32; k++) sum += other[32 * threadIdx.x + k];
    out[blockIdx.x * 32 + threadIdx.x] = sum;
    cluster.sync();
}

int main() {
    float *x, *a, *b, *c;
    cudaMallocManaged(&x, N * sizeof *x), cudaMallocManaged(&a, N * sizeof *a);
    cudaMallocManaged(&b, N * sizeof *b), cudaMallocManaged(&c, N * sizeof *c);
    for (int i = 0; i < N; i++) x[i] = 1.0f + (i * 37 % 101) / 10.0f;
    steps_alone<<<BLOCKS, THREADS>>>(a, x);
    steps_together<<<BLOCKS, THREADS>>>(b, x);
    steps_told<<<BLOCKS, THREADS>>>(c, x);
    cudaDeviceSynchronize();
    int bad = 0;
    for (int i = 0; i < N; i++) bad += a[i] != b[i] || a[i] != c[i];
    neighbours<<<2, 32>>>(a);
    columns<<<2, 32>>>(b);
    cudaDeviceSynchronize();
    printf("%d differ; %g %g\n", bad, a[5], b[5]);
    return bad != 0;
}
