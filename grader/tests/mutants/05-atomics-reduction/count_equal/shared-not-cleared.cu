// expect: RTE
// The block's counter in shared memory is never cleared.

__global__ void clear(int *count) {
    *count = 0;
}

__global__ void count_kernel(int *count, const int *data, int value, int n) {
    __shared__ int here;
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && data[i] == value) atomicAdd(&here, 1);
    __syncthreads();
    if (threadIdx.x == 0) atomicAdd(count, here);
}

extern "C" void count_equal(int *count, const int *data, int value, int n) {
    clear<<<1, 1>>>(count);
    if (n == 0) return;
    const int threads = 256;
    count_kernel<<<(n + threads - 1) / threads, threads>>>(count, data, value, n);
}
