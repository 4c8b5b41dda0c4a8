// Correct programs: histograms with shared and global atomics, compaction by a shared counter and by ballots, a queue, a
// flag that many threads set to the same value.
// also: --schedule hostile
#include "../programs/check.h"

enum { N = 10000, BINS = 64 };

__global__ void histogram(const int *in, int *bins) {
    __shared__ int s[BINS];
    for (int i = threadIdx.x; i < BINS; i += blockDim.x) s[i] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < N; i += gridDim.x * blockDim.x) atomicAdd(&s[in[i] % BINS], 1);
    __syncthreads();
    for (int i = threadIdx.x; i < BINS; i += blockDim.x) atomicAdd(&bins[i], s[i]);
}

__global__ void compact(const int *in, int *out, int *count) {
    __shared__ int n, base, s[256];
    int i = blockIdx.x * 256 + threadIdx.x;
    if (threadIdx.x == 0) n = 0;
    __syncthreads();
    if (i < N && in[i] % 3 == 0) s[atomicAdd(&n, 1)] = in[i];
    __syncthreads();
    if (threadIdx.x == 0) base = atomicAdd(count, n);
    __syncthreads();
    if (threadIdx.x < n) out[base + threadIdx.x] = s[threadIdx.x];
}

__global__ void by_ballot(const int *in, int *out, int *count) {
    int i = blockIdx.x * 256 + threadIdx.x, lane = threadIdx.x % 32, base = 0;
    bool keep = i < N && in[i] % 3 == 0;
    unsigned votes = __ballot_sync(0xffffffffu, keep);
    if (lane == 0) base = atomicAdd(count, __popc(votes));
    base = __shfl_sync(0xffffffffu, base, 0);
    if (keep) out[base + __popc(votes & ((1u << lane) - 1))] = in[i];
}

__global__ void any(const int *in, int *found, int what) {
    __shared__ bool here;
    int i = blockIdx.x * 256 + threadIdx.x;
    if (threadIdx.x == 0) here = false;
    __syncthreads();
    if (i < N && in[i] == what) here = true; // all write the same
    __syncthreads();
    if (here && threadIdx.x == 0) *found = 1; // so do all blocks
}

static int in[N], out[N], bins[BINS], want[BINS];

int main() {
    int *p, *q, *c, sum = 0, counts[4], bad = 0;
    for (int i = 0; i < N; i++) in[i] = (i * 7919) % 1000, want[in[i] % BINS]++, sum += in[i] % 3 == 0 ? in[i] : 0;
    CHECK(cudaMalloc(&p, sizeof in));
    CHECK(cudaMalloc(&q, sizeof in));
    CHECK(cudaMalloc(&c, 16));
    CHECK(cudaMemset(c, 0, 16));
    CHECK(cudaMemset(q, 0, sizeof in));
    CHECK(cudaMemcpy(p, in, sizeof in, cudaMemcpyHostToDevice));
    histogram<<<7, 256>>>(p, q);
    CHECK(cudaMemcpy(bins, q, sizeof bins, cudaMemcpyDeviceToHost));
    for (int i = 0; i < BINS; i++) bad += bins[i] != want[i];
    for (int k = 0; k < 2; k++) {
        CHECK(cudaMemset(q, 0, sizeof in));
        if (k == 0) compact<<<40, 256>>>(p, q, c);
        else by_ballot<<<40, 256>>>(p, q, c + 1);
        CHECK(cudaMemcpy(out, q, sizeof out, cudaMemcpyDeviceToHost));
        int got = 0;
        for (int i = 0; i < N; i++) got += out[i];
        bad += got != sum;
    }
    any<<<40, 256>>>(p, c + 2, 7);
    any<<<40, 256>>>(p, c + 3, 5000);
    CHECK(cudaMemcpy(counts, c, 16, cudaMemcpyDeviceToHost));
    printf("%d wrong, %d kept, found %d %d\n", bad, counts[0] == counts[1], counts[2], counts[3]);
    return 0;
}
