// WA/RTE | 28 | memory that is never freed, and used again in the next call | 
__global__ void k(int *out, const int *in, int *kept, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    out[i] = kept[i + n] == 0x600d ? kept[i] : 0;
    kept[i] = in[i] + 1, kept[i + n] = 0x600d;
}
extern "C" void plus_one(int *out, const int *in, int n) {
    int *p;
    if (n && !cudaMalloc(&p, 8ul * n)) k<<<(n + 255) / 256, 256>>>(out, in, p, n);
}
