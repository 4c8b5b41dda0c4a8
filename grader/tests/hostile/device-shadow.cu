// RTE | own | follows addresses far from any buffer, to find the simulator's own memory | 
__global__ void k(int *out, const int *in, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        const char *p = (const char *)in;
        int sum = 0;
        for (long j = 1l << 30; j < 1l << 36; j <<= 1) sum += p[j];
        out[i] = in[i] + 1 + (sum == 12345);
    }
}
extern "C" void plus_one(int *out, const int *in, int n) {
    if (n) k<<<(n + 255) / 256, 256>>>(out, in, n);
}
