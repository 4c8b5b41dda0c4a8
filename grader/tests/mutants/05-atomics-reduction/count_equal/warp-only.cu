// expect: PART
// A vote, and an atomic in global memory a warp.

__global__ void clear(int *count) {
    *count = 0;
}

__global__ void count_kernel(int *count, const int *data, int value, int n) {
    __shared__ int here;
    if (threadIdx.x == 0) here = 0;
    __syncthreads();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned equal = __ballot_sync(0xffffffff, i < n && data[i] == value);
    if (threadIdx.x % 32 == 0) atomicAdd(count, __popc(equal));
}

extern "C" void count_equal(int *count, const int *data, int value, int n) {
    clear<<<1, 1>>>(count);
    if (n == 0) return;
    const int threads = 256;
    count_kernel<<<(n + threads - 1) / threads, threads>>>(count, data, value, n);
}
