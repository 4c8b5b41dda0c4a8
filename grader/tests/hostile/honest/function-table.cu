// AC | - | a table of device functions | 
__device__ int one(int x) { return x + 1; }
__device__ int two(int x) { return x - 1 + 2; }
__device__ int (*const table[])(int) = {one, two};
__global__ void k(int *out, const int *in, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = table[i & 1](in[i]);
}
extern "C" void plus_one(int *out, const int *in, int n) {
    if (n) k<<<(n + 255) / 256, 256>>>(out, in, n);
}
