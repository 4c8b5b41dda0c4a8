// RTE | own | follows a host address from a kernel | 
__global__ void k(int *out, const int *in, int n, const int *host) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = in[i] + *host;
}
extern "C" void plus_one(int *out, const int *in, int n) {
    static int one = 1;
    if (n) k<<<(n + 255) / 256, 256>>>(out, in, n, &one);
}
