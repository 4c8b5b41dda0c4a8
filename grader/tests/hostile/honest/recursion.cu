// AC | - | a little recursion on the device | 
__device__ __noinline__ int sum(int x) { return x ? 1 + sum(x - 1) : 0; }
__global__ void k(int *out, const int *in, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = in[i] + sum(i % 7) - i % 7 + 1;
}
extern "C" void plus_one(int *out, const int *in, int n) {
    if (n) k<<<(n + 255) / 256, 256>>>(out, in, n);
}
