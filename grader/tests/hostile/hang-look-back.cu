// TLE | 45 | a look-back in reverse order: more blocks than fit wait for their successors | 
__device__ volatile int done[1 << 16];
__global__ void clear() { done[blockIdx.x * blockDim.x + threadIdx.x] = 0; }
__global__ void k(int *out, const int *in, int n) {
    if (threadIdx.x == 0) {
        if (blockIdx.x + 1 < gridDim.x)
            while (!done[blockIdx.x + 1]) {}
        __threadfence();
        done[blockIdx.x] = 1;
    }
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = in[i] + 1;
}
extern "C" void plus_one(int *out, const int *in, int n) {
    if (!n) return;
    clear<<<1 << 8, 1 << 8>>>();
    k<<<1 << 16, 32>>>(out, in, n);
}
