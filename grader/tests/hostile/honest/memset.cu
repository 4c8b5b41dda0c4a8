// AC | - | clears the output, then adds atomically | 
__global__ void k(int *out, const int *in, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(&out[i], in[i] + 1);
}
extern "C" void plus_one(int *out, const int *in, int n) {
    cudaMemset(out, 0, 4 * (size_t)n);
    if (n) k<<<(n + 255) / 256, 256>>>(out, in, n);
}
