// Correct programs: reductions by halving, by shuffles, by both, with __syncwarp, and the last block that sums the rest.
// also: --schedule hostile
#include "../programs/check.h"

enum { N = 20000 };

__global__ void halving(const int *in, int *out) {
    __shared__ int s[256];
    int t = threadIdx.x, i = blockIdx.x * 256 + t;
    s[t] = i < N ? in[i] : 0;
    for (int d = 128; d; d /= 2) {
        __syncthreads();
        if (t < d) s[t] += s[t + d];
    }
    if (t == 0) atomicAdd(out, s[0]);
}

__global__ void shuffles(const int *in, int *out) {
    __shared__ int s[8];
    int t = threadIdx.x, i = blockIdx.x * 256 + t, v = i < N ? in[i] : 0;
    for (int d = 16; d; d /= 2) v += __shfl_down_sync(0xffffffffu, v, d);
    if (t % 32 == 0) s[t / 32] = v;
    __syncthreads();
    if (t < 32) {
        v = t < 8 ? s[t] : 0;
        for (int d = 4; d; d /= 2) v += __shfl_xor_sync(0xffffffffu, v, d);
        if (t == 0) atomicAdd(out, v);
    }
}

__global__ void last_warp(const int *in, int *out) {
    __shared__ int s[256];
    int t = threadIdx.x, i = blockIdx.x * 256 + t;
    s[t] = i < N ? in[i] : 0;
    __syncthreads();
    if (t < 128) s[t] += s[t + 128];
    __syncthreads();
    if (t < 64) s[t] += s[t + 64];
    __syncthreads();
    if (t < 32) {
        int v = s[t] + s[t + 32];
        for (int d = 16; d; d /= 2) {
            s[t] = v;
            __syncwarp();
            v += t < d ? s[t + d] : 0;
            __syncwarp();
        }
        if (t == 0) atomicAdd(out, v);
    }
}

__device__ unsigned done;

__global__ void last_block(const int *in, int *partial, int *out) {
    __shared__ int s[8];
    __shared__ bool last;
    int t = threadIdx.x, v = 0;
    for (int i = blockIdx.x * 256 + t; i < N; i += gridDim.x * 256) v += in[i];
    for (int d = 16; d; d /= 2) v += __shfl_down_sync(0xffffffffu, v, d);
    if (t % 32 == 0) s[t / 32] = v;
    __syncthreads();
    if (t == 0) {
        int sum = 0;
        for (int i = 0; i < 8; i++) sum += s[i];
        partial[blockIdx.x] = sum;
        __threadfence();
        last = atomicInc(&done, gridDim.x - 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (last && t == 0) {
        int sum = 0;
        for (unsigned i = 0; i < gridDim.x; i++) sum += ((volatile int *)partial)[i];
        *out = sum;
    }
}

static int host[N], results[5];

int main() {
    int *in, *out, *partial, want = 0;
    for (int i = 0; i < N; i++) want += host[i] = i * 31 % 101;
    CHECK(cudaMalloc(&in, sizeof host));
    CHECK(cudaMalloc(&out, sizeof results));
    CHECK(cudaMalloc(&partial, 64 * sizeof(int)));
    CHECK(cudaMemcpy(in, host, sizeof host, cudaMemcpyHostToDevice));
    CHECK(cudaMemset(out, 0, sizeof results));
    halving<<<(N + 255) / 256, 256>>>(in, out);
    shuffles<<<(N + 255) / 256, 256>>>(in, out + 1);
    last_warp<<<(N + 255) / 256, 256>>>(in, out + 2);
    last_block<<<33, 256>>>(in, partial, out + 3);
    last_block<<<64, 256>>>(in, partial, out + 4);
    CHECK(cudaMemcpy(results, out, sizeof results, cudaMemcpyDeviceToHost));
    for (int i = 0; i < 5; i++) printf("%d", results[i] == want);
    printf("\n");
    return 0;
}
