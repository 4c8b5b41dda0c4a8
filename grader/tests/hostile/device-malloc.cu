// AC/RTE/MLE/TLE | own | device malloc without end | 
__global__ void k(int *out, const int *in, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) for (int j = 0; j < 1000; j++) {
        char *p = (char *)malloc(1 << 20);
        if (!p) break;
        p[0] = 1;
    }
    if (i < n) out[i] = in[i] + 1;
}
extern "C" void plus_one(int *out, const int *in, int n) {
    if (n) k<<<(n + 255) / 256, 256>>>(out, in, n);
}
