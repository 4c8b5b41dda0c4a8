// TLE | 45 | a loop without end whose state changes | 
__global__ void k(int *out, const int *in, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned x = i;
    for (;; x = x * 1664525u + 1013904223u)
        if (i < n) out[i] = in[i] + (x & 1);
}
extern "C" void plus_one(int *out, const int *in, int n) {
    if (n) k<<<(n + 255) / 256, 256>>>(out, in, n);
}
