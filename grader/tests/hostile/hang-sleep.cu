// TLE | 45 | sleeps until a flag is set that no thread sets | deadlock
__device__ volatile int ready;
__global__ void k(int *out, const int *in, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    for (unsigned ns = 8; !ready; ns = ns < 256 ? ns * 2 : ns) __nanosleep(ns);
    if (i < n) out[i] = in[i] + 1;
}
extern "C" void plus_one(int *out, const int *in, int n) {
    if (n) k<<<(n + 255) / 256, 256>>>(out, in, n);
}
