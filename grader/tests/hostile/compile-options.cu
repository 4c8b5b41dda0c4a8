// AC/CE | 37 | pragmas that load a compiler plugin or set options | 
#pragma GCC plugin("/tmp/x.so")
#pragma GCC optimize("-fplugin=/tmp/x.so")
__global__ void k(int *out, const int *in, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = in[i] + 1;
}
extern "C" void plus_one(int *out, const int *in, int n) {
    if (n) k<<<(n + 255) / 256, 256>>>(out, in, n);
}
