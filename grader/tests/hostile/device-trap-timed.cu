// RTE/FLAG/PART/AC | own | faults at the timed size alone | 
__global__ void k(int *out, const int *in, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (n > 1 << 20) out[(long)n * 4000 + i] = 1;
    if (i < n) out[i] = in[i] + 1;
}
extern "C" void plus_one(int *out, const int *in, int n) {
    if (n) k<<<(n + 255) / 256, 256>>>(out, in, n);
}
