// AC | - | the last block to end resets the counter that it was found by | 
__device__ unsigned done;
__global__ void k(int *out, const int *in, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = in[i] + 1;
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0 && atomicAdd(&done, 1) == gridDim.x - 1) atomicExch(&done, 0);
}
extern "C" void plus_one(int *out, const int *in, int n) {
    if (n) k<<<(n + 255) / 256, 256>>>(out, in, n);
}
