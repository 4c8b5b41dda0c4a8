// RTE/TLE | own | recursion without end on the device | 
__device__ __noinline__ int deep(int x, const int *in) {
    int a[64];
    for (int j = 0; j < 64; j++) a[j] = x + j;
    return x == -77 ? 0 : deep(x + 1, in) + a[in[0] & 63];
}
__global__ void k(int *out, const int *in, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = deep(i, in);
}
extern "C" void plus_one(int *out, const int *in, int n) {
    if (n) k<<<(n + 255) / 256, 256>>>(out, in, n);
}
