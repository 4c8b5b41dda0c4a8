// WA/RTE | 28 | copies between module variables carry a flag from one replay to the next | 
__device__ int flag, other;
__global__ void k(int *out, const int *in, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && flag == 7) out[i] = in[i] + 1;
    if (i == 0) other = 7;
}
extern "C" void plus_one(int *out, const int *in, int n) {
    int *a, *b;
    if (!n) return;
    cudaGetSymbolAddress((void **)&a, flag), cudaGetSymbolAddress((void **)&b, other);
    if (n) k<<<(n + 255) / 256, 256>>>(out, in, n);
    cudaMemcpy(a, b, 4, cudaMemcpyDeviceToDevice);
}
