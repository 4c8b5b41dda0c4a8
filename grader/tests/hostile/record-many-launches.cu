// RTE/TLE | own | a hundred thousand launches | too many
__global__ void k(int *out, const int *in, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = in[i] + 1;
}
extern "C" void plus_one(int *out, const int *in, int n) {
    for (int i = 0; n && i < 100000; i++) k<<<1, 32>>>(out, in, n < 32 ? n : 32);
}
