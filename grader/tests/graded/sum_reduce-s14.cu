// Right: each lane adds to the row's sum by an atomic.
// at first: modelled time far off
// expect: PART 10 40
// says: few atomics
// s14: warp a row, each lane atomically adds to sums[row]
__global__ void reduce(float *__restrict__ sums, const float *__restrict__ in, int rows, int cols) {
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (row >= rows) return;
    float sum = 0.0f;
    for (int i = lane; i < cols; i += 32) sum += in[(size_t)row * cols + i];
    atomicAdd(&sums[row], sum);
}
extern "C" void sum_reduce(float *sums, const float *in, int rows, int cols) {
    if (rows == 0) return;
    cudaMemset(sums, 0, rows * sizeof(float));
    reduce<<<(rows + 7) / 8, 256>>>(sums, in, rows, cols);
}
