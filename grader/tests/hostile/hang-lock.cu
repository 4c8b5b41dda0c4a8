// TLE | 45 | a lock that its first owner never releases | deadlock
__device__ int lock;
__global__ void k(int *out, const int *in, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (threadIdx.x == 0)
        while (atomicCAS(&lock, 0, 1) != 0) {}
    __syncthreads();
    if (i < n) out[i] = in[i] + 1;
}
extern "C" void plus_one(int *out, const int *in, int n) {
    if (n) k<<<(n + 31) / 32, 32>>>(out, in, n);
}
