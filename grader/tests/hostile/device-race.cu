// RTE | own | a race that gives the right answer most of the time | race
__global__ void k(int *out, const int *in, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    __shared__ int s[256];
    s[threadIdx.x] = i < n ? in[i] : 0;
    int v = s[255 - threadIdx.x];
    int w = s[threadIdx.x];
    if (i < n) out[i] = w + 1 + v * 0;
    if (v == 0x7fffffff && i < n) out[i] = w + 1;
}
extern "C" void plus_one(int *out, const int *in, int n) {
    if (n) k<<<(n + 255) / 256, 256>>>(out, in, n);
}
