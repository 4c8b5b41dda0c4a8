// expect: PART
// Eight blocks a row, and two kernels, each of which reads it.
#include <cfloat>

constexpr int THREADS = 512, KEPT = 32, BLOCKS = 8; // THREADS * KEPT * BLOCKS = 131072

__device__ float block_max(float v) {
    __shared__ float part[THREADS / 32];
    for (int distance = 16; distance > 0; distance /= 2) v = fmaxf(v, __shfl_xor_sync(0xffffffff, v, distance));
    if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = v;
    __syncthreads();
    for (int w = 0; w < THREADS / 32; w++) v = fmaxf(v, part[w]);
    return v;
}

__device__ float block_sum(float v) {
    __shared__ float part[THREADS / 32];
    for (int distance = 16; distance > 0; distance /= 2) v += __shfl_xor_sync(0xffffffff, v, distance);
    if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = v;
    __syncthreads();
    v = 0.0f;
    for (int w = 0; w < THREADS / 32; w++) v += part[w];
    return v;
}

// By eighth of a row: its largest element, and the sum of exp(x - largest).
__global__ void look(float2 *__restrict__ parts, const float *__restrict__ in, int cols) {
    int piece = (cols + BLOCKS - 1) / BLOCKS, first = min(int(blockIdx.x % BLOCKS) * piece, cols), size = min(piece, cols - first);
    const float *x = in + (size_t)(blockIdx.x / BLOCKS) * cols + first;
    float kept[KEPT], most = -FLT_MAX, sum = 0.0f;
#pragma unroll
    for (int k = 0, i = threadIdx.x; k < KEPT; k++, i += THREADS) kept[k] = i < size ? x[i] : -INFINITY;
#pragma unroll
    for (int k = 0; k < KEPT; k++) most = fmaxf(most, kept[k]);
    most = block_max(most);
#pragma unroll
    for (int k = 0; k < KEPT; k++) sum += expf(kept[k] - most);
    sum = block_sum(sum);
    if (threadIdx.x == 0) parts[blockIdx.x] = {most, sum};
}

__global__ void divide(float *__restrict__ out, const float2 *__restrict__ parts, const float *__restrict__ in, int cols) {
    int piece = (cols + BLOCKS - 1) / BLOCKS, first = min(int(blockIdx.x % BLOCKS) * piece, cols), size = min(piece, cols - first);
    size_t row = blockIdx.x / BLOCKS, at = row * cols + first;
    const float2 *of = parts + row * BLOCKS;
    float most = -FLT_MAX, sum = 0.0f;
    for (int r = 0; r < BLOCKS; r++) most = fmaxf(most, of[r].x);
    for (int r = 0; r < BLOCKS; r++) sum += of[r].y * expf(of[r].x - most);
    float scale = 1.0f / sum;
#pragma unroll 8
    for (int i = threadIdx.x; i < size; i += THREADS) out[at + i] = expf(in[at + i] - most) * scale;
}

extern "C" void long_rows(float *out, const float *in, int rows, int cols) {
    if (rows == 0 || cols == 0) return;
    float2 *parts;
    if (cudaMalloc(&parts, rows * BLOCKS * sizeof(float2)) != cudaSuccess) return;
    look<<<rows * BLOCKS, THREADS>>>(parts, in, cols);
    divide<<<rows * BLOCKS, THREADS>>>(out, parts, in, cols);
    cudaFree(parts);
}
