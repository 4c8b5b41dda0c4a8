// expect: PART
// An atomic for each element.

constexpr int THREADS = 256;

__global__ void add(float *sums, const float *values, const int *segment, int n) {
    int i = blockIdx.x * THREADS + threadIdx.x;
    if (i < n) atomicAdd(&sums[segment[i]], values[i]);
}

extern "C" void segmented_sum(float *sums, const float *values, const int *segment, int n, int segments) {
    cudaMemsetAsync(sums, 0, segments * sizeof(float));
    if (n > 0) add<<<(n + THREADS - 1) / THREADS, THREADS>>>(sums, values, segment, n);
}
