// CE | 38 | an initialised array of a gigabyte | 
int big[1 << 28] = {1};
__global__ void k(int *out, const int *in, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = in[i] + 1;
}
extern "C" void plus_one(int *out, const int *in, int n) {
    big[0] = n;
    if (n) k<<<(n + 255) / 256, 256>>>(out, in, n);
}
