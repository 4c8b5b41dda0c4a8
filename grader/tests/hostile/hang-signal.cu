// TLE | 45 | waits for two signals, but the second overwrites the first | deadlock
__device__ volatile int signals;
__global__ void k(int *out, const int *in, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (threadIdx.x == 0) signals = 1;
    __syncthreads();
    if (threadIdx.x == 32) signals = 1; // instead of an addition
    while (signals < 2) {}
    if (i < n) out[i] = in[i] + 1;
}
extern "C" void plus_one(int *out, const int *in, int n) {
    if (n) k<<<(n + 255) / 256, 256>>>(out, in, n);
}
