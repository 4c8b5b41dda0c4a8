// RTE/TLE/AC/MLE/WA | own | a million small allocations | 
__global__ void k(int *out, const int *in, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = in[i] + 1;
}
extern "C" void plus_one(int *out, const int *in, int n) {
    void *p;
    for (int i = 0; n && i < 2000000; i++) cudaMalloc(&p, 1);
    if (n) k<<<(n + 255) / 256, 256>>>(out, in, n);
}
