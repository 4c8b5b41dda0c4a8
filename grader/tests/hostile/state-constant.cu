// WA/RTE | 28 | a constant that only the first call uploads | 
__constant__ int one;
__global__ void k(int *out, const int *in, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = in[i] + one;
}
extern "C" void plus_one(int *out, const int *in, int n) {
    static bool done;
    int v = 1;
    if (!done) cudaMemcpyToSymbol(one, &v, 4);
    done = true;
    if (n) k<<<(n + 255) / 256, 256>>>(out, in, n);
}
