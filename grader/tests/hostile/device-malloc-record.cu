// AC | own | device malloc, never freed, then a host allocation, which must get its recorded address | 
__global__ void eat(int n) {
    if (threadIdx.x == 0) for (int j = 0; j < 10; j++) malloc(1000 * j + 1);
}
__global__ void k(int *out, const int *in, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = in[i] + 1;
}
extern "C" void plus_one(int *out, const int *in, int n) {
    int *p;
    if (n) eat<<<1, 32>>>(n);
    if (!n || cudaMalloc(&p, 4000)) return;
    cudaMemset(p, 0, 4000);
    if (n) k<<<(n + 255) / 256, 256>>>(out, in, n);
    cudaFree(p);
}
