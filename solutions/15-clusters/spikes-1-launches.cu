// Step 1: one launch per step, because each step needs the number of cells that fired in the previous one.

constexpr int THREADS = 256, START = 160, LEAST = 64, WEIGHT = 20;

// The threshold of step k, from those of the step before.
__device__ int threshold_of(int k, const int *threshold, const int *fired, int n) {
    return k == 0 ? START : max(LEAST, threshold[k - 1] + 256 * fired[k - 1] / n - 16);
}

__global__ void step(int *to, const int *from, const int *drive, int *threshold, int *fired, int n, int k) {
    int i = blockIdx.x * THREADS + threadIdx.x, at = threshold_of(k, threshold, fired, n);
    bool fires = i < n && from[i] >= at;
    int count = __syncthreads_count(fires);
    if (threadIdx.x == 0) atomicAdd(&fired[k], count);
    if (i == 0) threshold[k] = at;
    if (i >= n) return;
    int neighbours = (from[i == 0 ? n - 1 : i - 1] >= at) + (from[i == n - 1 ? 0 : i + 1] >= at);
    to[i] = from[i] + drive[i] + WEIGHT * neighbours - (fires ? at : 0);
}

extern "C" void spikes(int *out, const int *v, const int *drive, int n, int steps) {
    if (n == 0) return;
    int *other, *threshold, *fired;
    if (cudaMalloc(&other, (n + 2 * steps) * sizeof(int)) != cudaSuccess) return;
    threshold = other + n, fired = threshold + steps;
    cudaMemset(fired, 0, steps * sizeof(int));
    if (steps == 0) cudaMemcpy(out, v, n * sizeof(int), cudaMemcpyDeviceToDevice);
    const int *from = v;
    for (int k = 0; k < steps; k++) {
        int *to = (steps - k) % 2 ? out : other; // the last step writes to out
        step<<<(n + THREADS - 1) / THREADS, THREADS>>>(to, from, drive, threshold, fired, n, k);
        from = to;
    }
    cudaFree(other);
}
