// AC | - | a last block that is only partly full, int2 accesses | 
__global__ void k(int *out, const int *in, int n) {
    int i = 2 * (blockIdx.x * blockDim.x + threadIdx.x);
    if (i + 1 < n) {
        int2 v = *(const int2 *)(in + i);
        *(int2 *)(out + i) = make_int2(v.x + 1, v.y + 1);
    } else if (i < n) out[i] = in[i] + 1;
}
extern "C" void plus_one(int *out, const int *in, int n) {
    if (n) k<<<(n / 2 + 256) / 256, 256>>>(out, in, n);
}
