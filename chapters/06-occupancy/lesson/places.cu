// What lesson 06 shows: eight counters of a thread, in local memory and in registers.
extern "C" __global__ void by_index(int *out, const int *data, int n) {
    int v[8] = {0};
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        v[data[i] & 7] += 1;                         // the data decide: local memory
    for (int k = 0; k < 8; k++) out[8 * threadIdx.x + k] = v[k];
}

extern "C" __global__ void by_comparison(int *out, const int *data, int n) {
    int v[8] = {0};
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        for (int k = 0; k < 8; k++)
            v[k] += (data[i] & 7) == k;              // unrolled, so every index is known: registers
    for (int k = 0; k < 8; k++) out[8 * threadIdx.x + k] = v[k];
}

extern "C" __global__ void __launch_bounds__(256, 2) bounded(float *x) { // blocks of at most 256 threads, two of them on an SM
    x[blockIdx.x * blockDim.x + threadIdx.x] *= 2;
}

int main() {
    enum { N = 4096 };
    int *data, *out;
    cudaMalloc(&data, N * sizeof *data);
    cudaMalloc(&out, 8 * 256 * sizeof *out);
    cudaMemset(data, 0, N * sizeof *data);
    by_index<<<1, 256>>>(out, data, N);
    by_comparison<<<1, 256>>>(out, data, N);
    bounded<<<1, 256>>>((float *)data);
    return cudaDeviceSynchronize();
}
