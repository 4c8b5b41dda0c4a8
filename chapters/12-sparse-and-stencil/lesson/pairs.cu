// What lesson 12 shows of all pairs: how near is the nearest of 512 other points, for 1024 points? By a thread a point, and two points a thread.
#include <float.h>
constexpr int OTHERS = 512;

__device__ void bring(float2 *tile, const float2 *others) {
    for (int j = threadIdx.x; j < OTHERS; j += blockDim.x) tile[j] = others[j];
    __syncthreads();
}

extern "C" __global__ void one_each(float *out, const float2 *in, const float2 *others) {
    __shared__ float2 tile[OTHERS];
    bring(tile, others);
    int i = blockIdx.x * 128 + threadIdx.x;
    float2 me = in[i];
    float best = FLT_MAX;
    for (int j = 0; j < OTHERS; j++) {
        float2 b = tile[j];
        best = fminf(best, (b.x - me.x) * (b.x - me.x) + (b.y - me.y) * (b.y - me.y));
    }
    out[i] = best;
}

extern "C" __global__ void two_each(float *out, const float2 *in, const float2 *others) {
    __shared__ float2 tile[OTHERS];
    bring(tile, others);
    int i = blockIdx.x * 256 + threadIdx.x;
    float2 me[2] = {in[i], in[i + 128]};
    float best[2] = {FLT_MAX, FLT_MAX};
    for (int j = 0; j < OTHERS; j++) {
        float2 b = tile[j];         // read once ...
#pragma unroll
        for (int k = 0; k < 2; k++) // ... for two
            best[k] = fminf(best[k], (b.x - me[k].x) * (b.x - me[k].x) + (b.y - me[k].y) * (b.y - me[k].y));
    }
    out[i] = best[0], out[i + 128] = best[1];
}

int main() {
    enum { N = 1024 };
    float *out;
    float2 *in;
    cudaMalloc(&out, N * sizeof *out), cudaMalloc(&in, N * sizeof *in);
    cudaMemset(in, 0, N * sizeof *in);
    one_each<<<N / 128, 128>>>(out, in, in);
    two_each<<<N / 256, 128>>>(out, in, in);
    return cudaDeviceSynchronize();
}
