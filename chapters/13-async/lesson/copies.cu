// What lesson 13 shows of copies into shared memory: a block walks along a row of numbers, tile by tile, and adds up 32 neighbours of each
// in the tile, as if it were a ring.
#include <cuda_pipeline.h>

constexpr int TILE = 512, TILES = 16, BLOCKS = 4, NEAR = 32; // 128 threads, four numbers each

__device__ float4 sums(const float *tile) {
    float4 sum = {};
#pragma unroll 4
    for (int k = 0; k < NEAR; k++) {
        const float *at = tile + (threadIdx.x + k) % 128;
        sum.x += at[0], sum.y += at[128], sum.z += at[256], sum.w += at[384];
    }
    return sum;
}

extern "C" __global__ void waits(float4 *out, const float4 *in) {
    __shared__ __align__(16) float tile[TILE];
    in += blockIdx.x * TILES * 128 + threadIdx.x, out += blockIdx.x * TILES * 128 + threadIdx.x;
    for (int i = 0; i < TILES; i++) {
        reinterpret_cast<float4 *>(tile)[threadIdx.x] = in[i * 128]; // waits for memory
        __syncthreads();
        out[i * 128] = sums(tile);                                   // memory waits for us
        __syncthreads();                                             // nobody reads this tile any more
    }
}

extern "C" __global__ void waits_at_once(float4 *out, const float4 *in) {
    __shared__ __align__(16) float tile[TILE];
    in += blockIdx.x * TILES * 128 + threadIdx.x, out += blockIdx.x * TILES * 128 + threadIdx.x;
    for (int i = 0; i < TILES; i++) {
        __pipeline_memcpy_async(reinterpret_cast<float4 *>(tile) + threadIdx.x, in + i * 128, 16);
        __pipeline_commit();
        __pipeline_wait_prior(0);
        __syncthreads();
        out[i * 128] = sums(tile);
        __syncthreads();
    }
}

extern "C" __global__ void asks_early(float4 *out, const float4 *in) {
    __shared__ __align__(16) float tile[2][TILE];
    in += blockIdx.x * TILES * 128 + threadIdx.x, out += blockIdx.x * TILES * 128 + threadIdx.x;
    auto request = [&](int i) {
        if (i < TILES) __pipeline_memcpy_async(reinterpret_cast<float4 *>(tile[i % 2]) + threadIdx.x, in + i * 128, 16);
        __pipeline_commit();
    };
    request(0);
    for (int i = 0; i < TILES; i++) {
        __pipeline_wait_prior(0);       // my part of tile i is here ...
        __syncthreads();                // ... and everybody's; and nobody reads tile i - 1 any more
        request(i + 1);                     // into the place of tile i - 1
        out[i * 128] = sums(tile[i % 2]);
    }
}

int main() {
    float4 *in, *out;
    size_t size = BLOCKS * TILES * 128 * sizeof *in;
    cudaMalloc(&in, size), cudaMalloc(&out, size);
    cudaMemset(in, 0, size);
    waits<<<BLOCKS, 128>>>(out, in);
    waits_at_once<<<BLOCKS, 128>>>(out, in);
    asks_early<<<BLOCKS, 128>>>(out, in);
    return cudaDeviceSynchronize();
}
