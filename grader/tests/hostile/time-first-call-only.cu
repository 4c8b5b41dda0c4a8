// WA | 8 | does the work in the first call only | launched no kernel
__global__ void k(int *out, const int *in, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = in[i] + 1;
}
static bool done;
extern "C" void plus_one(int *out, const int *in, int n) {
    if (!done) {
        if (n) k<<<(n + 255) / 256, 256>>>(out, in, n);
    }
    if (n) done = true;
}
