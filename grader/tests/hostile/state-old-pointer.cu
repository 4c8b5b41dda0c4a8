// WA/RTE | 28 | uses memory of an earlier call by its address | 
__global__ void k(int *out, const int *in, int *kept, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = kept[i];
    if (i < n) kept[i] = in[i] + 1;
}
extern "C" void plus_one(int *out, const int *in, int n) {
    static int *p;
    if (!n) return;
    if (!p) cudaMalloc(&p, 32 << 20);
    k<<<(n + 255) / 256, 256>>>(out, in, p, n);
}
