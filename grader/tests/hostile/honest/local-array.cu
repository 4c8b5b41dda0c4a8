// AC | - | a local array that is indexed, four kilobytes a thread | 
__global__ void k(int *out, const int *in, int n) {
    int a[1024], i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    for (int j = 0; j < 1024; j += 128) a[(j + i) & 1023] = in[i] + j;
    out[i] = a[(256 + i) & 1023] - 255;
}
extern "C" void plus_one(int *out, const int *in, int n) {
    if (n) k<<<(n + 255) / 256, 256>>>(out, in, n);
}
