// AC | - | a __device__ array of 64 MiB, of which some is used | 
__device__ int big[16 << 20];
__global__ void put(const int *in, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) big[i] = in[i];
}
__global__ void k(int *out, const int *in, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = big[i] + 1;
}
extern "C" void plus_one(int *out, const int *in, int n) {
    if (n) put<<<(n + 255) / 256, 256>>>(in, n);
    if (n) k<<<(n + 255) / 256, 256>>>(out, in, n);
}
