// AC | - | a constant uploaded for each call | 
__constant__ int one;
__global__ void k(int *out, const int *in, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = in[i] + one;
}
extern "C" void plus_one(int *out, const int *in, int n) {
    int v = 1;
    cudaMemcpyToSymbol(one, &v, 4);
    if (n) k<<<(n + 255) / 256, 256>>>(out, in, n);
}
