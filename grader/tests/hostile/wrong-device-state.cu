// WA/RTE | 28 | keeps the first replay's output in a __device__ array and copies it out ever after | are wrong
__device__ int kept[1 << 17], have;
__global__ void k(int *out, const int *in, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    if (have == 0) return;
    out[i] = kept[i];
}
__global__ void fill(int *out, const int *in, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && have < 1) out[i] = kept[i] = 1;
    if (!i) have = 1;
}
extern "C" void plus_one(int *out, const int *in, int n) {
    if (n) fill<<<(n + 255) / 256, 256>>>(out, in, n);
    if (n) k<<<(n + 255) / 256, 256>>>(out, in, n);
}
