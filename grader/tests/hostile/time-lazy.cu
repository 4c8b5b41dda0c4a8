// WA/RTE | 3 | the work for one call is launched in the next | launched no kernel
__global__ void k(int *out, const int *in, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = in[i] + 1;
}
static int *last_out;
static const int *last_in;
static int last_n;
extern "C" void plus_one(int *out, const int *in, int n) {
    if (last_n) k<<<(last_n + 255) / 256, 256>>>(last_out, last_in, last_n);
    last_out = out, last_in = in, last_n = n;
}
