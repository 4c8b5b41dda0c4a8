// AC | - | temporary device memory, device to device copies | 
__global__ void k(int *out, const int *in, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = in[i] + 1;
}
extern "C" void plus_one(int *out, const int *in, int n) {
    if (!n) return;
    int *t;
    cudaMalloc(&t, 4 * (size_t)n);
    k<<<(n + 255) / 256, 256>>>(t, in, n);
    cudaMemcpy(out, t, 4 * (size_t)n, cudaMemcpyDeviceToDevice);
    cudaFree(t);
}
