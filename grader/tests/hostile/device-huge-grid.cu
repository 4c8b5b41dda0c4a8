// TLE/RTE | own | a grid of billions of empty blocks | 
__global__ void k(int *out, const int *in, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = in[i] + 1;
}
extern "C" void plus_one(int *out, const int *in, int n) {
    if (n) k<<<0x7fffffff, 1024>>>(out, in, n);
}
