// AC | own | device malloc takes the memory of a later, recorded host allocation | 
__global__ void eat(int n) {
    if (threadIdx.x == 0) for (int j = 0; j < 4000 && malloc(1 << 20); j++) {}
}
__global__ void k(int *out, const int *in, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = in[i] + 1;
}
extern "C" void plus_one(int *out, const int *in, int n) {
    char *p;
    if (n) eat<<<1, 32>>>(n);
    if (!n || cudaMalloc(&p, 1900u << 20)) return;
    if (n) k<<<(n + 255) / 256, 256>>>(out, in, n);
    cudaFree(p);
}
