// WA/RTE | 28 | a __device__ counter, so that only the first launch works | are wrong
__device__ int launches;
__global__ void k(int *out, const int *in, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = launches ? in[i] + 1 : 0;
    if (!i) launches = 1;
}
extern "C" void plus_one(int *out, const int *in, int n) {
    if (n) k<<<(n + 255) / 256, 256>>>(out, in, n);
}
