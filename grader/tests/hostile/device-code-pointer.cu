// RTE/TLE/CE/IE | own | calls an address that is not a function | 
typedef void (*f)(int *);
__global__ void k(int *out, const int *in, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    f g = (f)(size_t)(0x1234 + n);
    g(out);
    if (i < n) out[i] = in[i] + 1;
}
extern "C" void plus_one(int *out, const int *in, int n) {
    if (n) k<<<(n + 255) / 256, 256>>>(out, in, n);
}
