// CE | own | 64 KiB of static shared memory | ptxas
__global__ void k(int *out, const int *in, int n) {
    __shared__ int s[16384];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    s[threadIdx.x * 64] = i;
    __syncthreads();
    if (i < n) out[i] = in[i] + s[(i * 64) & 16383];
}
extern "C" void plus_one(int *out, const int *in, int n) {
    if (n) k<<<(n + 255) / 256, 256>>>(out, in, n);
}
