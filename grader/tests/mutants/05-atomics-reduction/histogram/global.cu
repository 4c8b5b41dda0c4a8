// expect: PART
// An atomic in global memory for each byte.

__global__ void clear(int *bins) {
    bins[threadIdx.x] = 0;
}

__global__ void count(int *bins, const unsigned char *data, int n) {
    int step = gridDim.x * blockDim.x;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step) atomicAdd(&bins[data[i]], 1);
}

extern "C" void histogram(int *bins, const unsigned char *data, int n) {
    clear<<<1, 256>>>(bins);
    if (n == 0) return;
    const int threads = 256, most_blocks = 264; // 2 blocks for each of 132 SMs
    count<<<min((n + threads - 1) / threads, most_blocks), threads>>>(bins, data, n);
}
