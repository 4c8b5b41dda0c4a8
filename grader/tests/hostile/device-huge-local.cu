// RTE/CE | own | a local array of sixteen megabytes a thread | 
__global__ void k(int *out, const int *in, int n) {
    int a[4 << 20], i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    for (int j = 0; j < 100; j++) a[(in[i] + j * 7919) & 0x3fffff] = j;
    out[i] = a[in[(i + 1) % n] & 0x3fffff];
}
extern "C" void plus_one(int *out, const int *in, int n) {
    if (n) k<<<(n + 255) / 256, 256>>>(out, in, n);
}
