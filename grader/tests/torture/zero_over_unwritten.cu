// The first warp adds up what the others have not stored yet. They store zeros, which is what shared memory holds here:
// on a GPU, it may hold anything. Threads of `same_word` that store to the same word store the same number, which is no race.
#include <cstdio>

__global__ void sum(int *out, const int *in) {
    __shared__ int part[8];
    int t = threadIdx.x, v = in[t];
    for (int d = 16; d > 0; d /= 2) v += __shfl_down_sync(~0u, v, d);
    if (t % 32 == 0) part[t / 32] = v;
    if (t < 32) {
        v = t < 8 ? part[t] : 0;
        for (int d = 4; d > 0; d /= 2) v += __shfl_down_sync(~0u, v, d);
        if (t == 0) *out = v;
    }
}

__global__ void same_word(int *out) {
    __shared__ int zero, of_warp[8];
    zero = 0;
    of_warp[threadIdx.x / 32] = __ballot_sync(~0u, threadIdx.x > blockDim.x);
    __syncthreads();
    out[threadIdx.x] = zero + of_warp[0];
}

int main() {
    int *in, *out;
    cudaMalloc(&in, 256 * sizeof(int));
    cudaMalloc(&out, 256 * sizeof(int));
    cudaMemset(in, 0, 256 * sizeof(int));
    sum<<<1, 256>>>(out, in);
    same_word<<<2, 256>>>(out);
    printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
}
