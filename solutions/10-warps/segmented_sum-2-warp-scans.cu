// Step 2: a scan for each warp: five rounds, and lanes wait for the lanes of their own warp only.

constexpr int THREADS = 256;

__global__ void add(float *sums, const float *values, const int *segment, int n) {
    __shared__ float part[2][THREADS];
    __shared__ int owner[THREADS];
    int t = threadIdx.x, lane = t % 32, i = blockIdx.x * THREADS + t, from = 0;
    int mine = i < n ? segment[i] : -1; // threads past the end form their own segment
    owner[t] = mine;
    part[0][t] = i < n ? values[i] : 0.0f;
    __syncwarp();

    // part[from][t] sums the elements of t's segment among the `d` from t on, up to the end of the warp.
    for (int d = 1; d < 32; d *= 2, from ^= 1) {
        float sum = part[from][t];
        if (lane + d < 32 && owner[t + d] == mine) sum += part[from][t + d];
        part[from ^ 1][t] = sum;
        __syncwarp();
    }
    bool begins = lane == 0 || owner[t - 1] != mine;
    if (begins && mine >= 0) atomicAdd(&sums[mine], part[from][t]);
}

extern "C" void segmented_sum(float *sums, const float *values, const int *segment, int n, int segments) {
    cudaMemsetAsync(sums, 0, segments * sizeof(float));
    if (n > 0) add<<<(n + THREADS - 1) / THREADS, THREADS>>>(sums, values, segment, n);
}
