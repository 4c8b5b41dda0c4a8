// sum_reduce: sums[r] is the sum of row r; in is rows x cols. A block a row.

constexpr int THREADS = 256; // tune: THREADS 64 128 256 512 1024

__global__ void reduce(float *__restrict__ sums, const float *__restrict__ in, int cols) {
    __shared__ float part[THREADS];
    const float *row = in + (size_t)blockIdx.x * cols;
    int t = threadIdx.x;
    float sum = 0.0f;
    for (int i = t; i < cols; i += THREADS) sum += row[i];
    part[t] = sum;
    __syncthreads();

    // TODO: eight rounds through shared memory, each with a barrier for all warps. 32 lanes do not need
    // memory to add up.
    for (int distance = THREADS / 2; distance > 0; distance /= 2) {
        if (t < distance) part[t] += part[t + distance];
        __syncthreads();
    }
    if (t == 0) sums[blockIdx.x] = part[0];
}

extern "C" void sum_reduce(float *sums, const float *in, int rows, int cols) {
    if (rows == 0) return;
    reduce<<<rows, THREADS>>>(sums, in, cols);
}
