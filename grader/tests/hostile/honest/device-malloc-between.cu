// AC | - | a list built by device malloc, and a cudaMalloc after that launch | 
__device__ int *kept;
__global__ void make() { kept = (int *)malloc(64), *kept = 1; }
__global__ void k(int *out, const int *in, const int *t, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = in[i] + *kept + t[0];
}
__global__ void drop() { free(kept); }
extern "C" void plus_one(int *out, const int *in, int n) {
    int *t;
    if (!n) return;
    make<<<1, 1>>>();
    if (cudaMalloc(&t, 1000)) return;
    cudaMemset(t, 0, 1000);
    k<<<(n + 255) / 256, 256>>>(out, in, t, n);
    drop<<<1, 1>>>();
    cudaFree(t);
}
