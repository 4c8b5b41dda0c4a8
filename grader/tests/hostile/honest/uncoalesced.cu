// PART | - | honest and slow | 
__global__ void k(int *out, const int *in, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        int j = n % 32 ? i : (i % 32) * (n / 32) + i / 32;
        out[j] = in[j] + 1;
    }
}
extern "C" void plus_one(int *out, const int *in, int n) {
    if (n) k<<<(n + 255) / 256, 256>>>(out, in, n);
}
