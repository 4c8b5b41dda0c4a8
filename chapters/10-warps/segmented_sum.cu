// segmented_sum: sums[s] is the sum of the values whose segment is s. Segments come in order: segment[i] <= segment[i + 1].

constexpr int THREADS = 256;

__global__ void add(float *sums, const float *values, const int *segment, int n) {
    __shared__ float part[2][THREADS];
    __shared__ int owner[THREADS];
    int t = threadIdx.x, i = blockIdx.x * THREADS + t, from = 0;
    int mine = i < n ? segment[i] : -1; // threads past the end form their own segment
    owner[t] = mine;
    part[0][t] = i < n ? values[i] : 0.0f;
    __syncthreads();

    // part[from][t] sums the elements of t's segment among the `d` from t on.
    for (int d = 1; d < THREADS; d *= 2, from ^= 1) {
        // TODO: five of these eight rounds could be among the lanes of one warp, without memory and without a barrier.
        float sum = part[from][t];
        if (t + d < THREADS && owner[t + d] == mine) sum += part[from][t + d];
        part[from ^ 1][t] = sum;
        __syncthreads();
    }
    bool begins = t == 0 || owner[t - 1] != mine;
    if (begins && mine >= 0) atomicAdd(&sums[mine], part[from][t]);
}

extern "C" void segmented_sum(float *sums, const float *values, const int *segment, int n, int segments) {
    cudaMemsetAsync(sums, 0, segments * sizeof(float));
    if (n > 0) add<<<(n + THREADS - 1) / THREADS, THREADS>>>(sums, values, segment, n);
}
