// AC | - | memory of a pool, by the stream | 
__global__ void add(int *t, const int *in, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) t[i] = in[i] + 1;
}
extern "C" void plus_one(int *out, const int *in, int n) {
    int *t;
    if (!n || cudaMallocAsync(&t, 4ul * n, 0)) return;
    add<<<(n + 255) / 256, 256>>>(t, in, n);
    cudaMemcpyAsync(out, t, 4ul * n, cudaMemcpyDeviceToDevice);
    cudaFreeAsync(t, 0);
}
