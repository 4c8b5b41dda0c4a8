// AC | - | a constructor that asks the runtime for properties and memory | 
static int threads = 256;
static int *scratch;
__attribute__((constructor)) static void ask() {
    cudaDeviceProp p;
    if (!cudaGetDeviceProperties(&p, 0)) threads = p.maxThreadsPerBlock / 4;
    if (!cudaMalloc(&scratch, 1024)) cudaFree(scratch);
}
__global__ void k(int *out, const int *in, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = in[i] + 1;
}
extern "C" void plus_one(int *out, const int *in, int n) {
    if (n) k<<<(n + threads - 1) / threads, threads>>>(out, in, n);
}
