// attention, step 1: three kernels. All scores of a head are in memory, and lanes multiply.

#include <cuda_fp16.h>

constexpr int DIM = 64, TILE = 32;
constexpr unsigned ALL = 0xffffffff;

// scores[i][j] = q[i] * k[j] / 8. A block computes TILE x TILE.
__global__ void multiply_keys(float *scores, const half *q, const half *k, int n) {
    __shared__ float query[TILE][DIM + 1], key[TILE][DIM + 1];
    int x = threadIdx.x, y = threadIdx.y, top = blockIdx.y * TILE, left = blockIdx.x * TILE;
    size_t head = (size_t)blockIdx.z * n;
    for (int l = x; l < DIM; l += TILE) {
        query[y][l] = top + y < n ? __half2float(q[(head + top + y) * DIM + l]) : 0.0f;
        key[y][l] = left + y < n ? __half2float(k[(head + left + y) * DIM + l]) : 0.0f;
    }
    __syncthreads();
    float sum = 0.0f;
    for (int l = 0; l < DIM; l++) sum += query[y][l] * key[x][l];
    if (top + y < n && left + x < n) scores[(head + top + y) * n + left + x] = sum / 8.0f;
}

// One warp per row, in place.
__global__ void softmax(float *scores, int n, int rows) {
    int row = blockIdx.x * blockDim.y + threadIdx.y, lane = threadIdx.x;
    if (row >= rows) return;
    float *mine = scores + (size_t)row * n;
    float most = -INFINITY, sum = 0.0f;
    for (int j = lane; j < n; j += 32) most = fmaxf(most, mine[j]);
    for (int d = 16; d > 0; d /= 2) most = fmaxf(most, __shfl_xor_sync(ALL, most, d));
    for (int j = lane; j < n; j += 32) sum += expf(mine[j] - most);
    for (int d = 16; d > 0; d /= 2) sum += __shfl_xor_sync(ALL, sum, d);
    for (int j = lane; j < n; j += 32) mine[j] = expf(mine[j] - most) / sum;
}

// out[i] = sum over j of weights[i][j] * v[j]. A block computes TILE rows, two elements per thread.
__global__ void multiply_values(float *out, const float *weights, const half *v, int n) {
    __shared__ float weight[TILE][TILE + 1], value[TILE][DIM];
    int x = threadIdx.x, y = threadIdx.y, row = blockIdx.x * TILE + y;
    size_t head = (size_t)blockIdx.y * n;
    float low = 0.0f, high = 0.0f;
    for (int start = 0; start < n; start += TILE) {
        weight[y][x] = row < n && start + x < n ? weights[(head + row) * n + start + x] : 0.0f;
        for (int l = x; l < DIM; l += TILE) value[y][l] = start + y < n ? __half2float(v[(head + start + y) * DIM + l]) : 0.0f;
        __syncthreads();
        for (int j = 0; j < TILE; j++) low += weight[y][j] * value[j][x], high += weight[y][j] * value[j][x + TILE];
        __syncthreads();
    }
    if (row < n) out[(head + row) * DIM + x] = low, out[(head + row) * DIM + x + TILE] = high;
}

extern "C" void attention(float *out, const half *q, const half *k, const half *v, int heads, int n) {
    if (heads == 0 || n == 0) return;
    int tiles = (n + TILE - 1) / TILE, rows = heads * n;
    float *scores;
    cudaMalloc(&scores, (size_t)rows * n * sizeof *scores);
    multiply_keys<<<dim3(tiles, tiles, heads), dim3(TILE, TILE)>>>(scores, q, k, n);
    softmax<<<(rows + 7) / 8, dim3(32, 8)>>>(scores, n, rows);
    multiply_values<<<dim3(tiles, heads), dim3(TILE, TILE)>>>(out, scores, v, n);
    cudaFree(scores);
}
