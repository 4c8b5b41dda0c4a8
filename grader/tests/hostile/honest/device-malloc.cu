// AC | - | device malloc, freed in the kernel | 
__global__ void k(int *out, const int *in, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    __shared__ int *p;
    if (threadIdx.x == 0) p = (int *)malloc(1024);
    __syncthreads();
    if (p) p[threadIdx.x] = i < n ? in[i] : 0;
    if (i < n) out[i] = (p ? p[threadIdx.x] : in[i]) + 1;
    __syncthreads();
    if (threadIdx.x == 0) free(p);
}
extern "C" void plus_one(int *out, const int *in, int n) {
    if (n) k<<<(n + 255) / 256, 256>>>(out, in, n);
}
