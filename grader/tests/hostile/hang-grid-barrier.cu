// TLE | 45 | a grid barrier, written by hand, for more blocks than fit | 
__device__ volatile unsigned arrived;
__global__ void clear() { arrived = 0; }
__global__ void k(int *out, const int *in, int n) {
    if (threadIdx.x == 0) {
        atomicAdd((unsigned *)&arrived, 1u);
        while (arrived < gridDim.x) {}
    }
    __syncthreads();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = in[i] + 1;
}
extern "C" void plus_one(int *out, const int *in, int n) {
    if (!n) return;
    clear<<<1, 1>>>();
    k<<<1 << 16, 32>>>(out, in, n);
}
