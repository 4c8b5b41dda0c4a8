// TLE | 45 | a loop whose bound is corrupt: 2^31 iterations | 
__global__ void k(int *out, const int *in, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, sum = 0, bound = in[0] | 0x7fffffff;
    for (int j = 0; j < (bound & 0x7fffffff); j++) sum += in[j % n] & j;
    if (i < n) out[i] = in[i] + 1 + (sum & 0);
    if (i < n && sum == 12345) out[i] = sum;
}
extern "C" void plus_one(int *out, const int *in, int n) {
    if (n) k<<<(n + 255) / 256, 256>>>(out, in, n);
}
