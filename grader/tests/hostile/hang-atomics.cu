// TLE | 45 | a storm of atomics that ends after 2^32 of them | 
__device__ unsigned count;
__global__ void k(int *out, const int *in, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    while (atomicAdd(&count, 1u) != 0xffffffffu) {}
    if (i < n) out[i] = in[i] + 1;
}
extern "C" void plus_one(int *out, const int *in, int n) {
    if (n) k<<<(n + 255) / 256, 256>>>(out, in, n);
}
