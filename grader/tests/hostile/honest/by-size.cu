// AC | - | another kernel for large problems | 
__global__ void k(int *out, const int *in, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = in[i] + 1;
}
__global__ void wide(int *out, const int *in, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (4 * i + 3 < n) {
        int4 v = ((const int4 *)in)[i];
        v.x++, v.y++, v.z++, v.w++;
        ((int4 *)out)[i] = v;
    }
}
extern "C" void plus_one(int *out, const int *in, int n) {
    if (n % 4 == 0 && n > 100000) wide<<<(n / 4 + 255) / 256, 256>>>(out, in, n);
    else if (n) k<<<(n + 255) / 256, 256>>>(out, in, n);
}
