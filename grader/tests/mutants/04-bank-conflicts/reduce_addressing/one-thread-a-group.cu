// expect: PART
// No tree: a thread sums its group alone, 1024 bytes from its neighbour.

__global__ void reduce(int *__restrict__ sums, const int *__restrict__ in, int n) {
    int g = blockIdx.x * blockDim.x + threadIdx.x, groups = (n + 255) / 256;
    if (g >= groups) return;
    int sum = 0;
    for (int i = g * 256; i < n && i < (g + 1) * 256; i++) sum += in[i];
    sums[g] = sum;
}

extern "C" void reduce_addressing(int *sums, const int *in, int n) {
    if (n == 0) return;
    int groups = (n + 255) / 256;
    reduce<<<(groups + 63) / 64, 64>>>(sums, in, n);
}
