// expect: RTE
// More than 48 KB without cudaFuncSetAttribute, so the launch fails.

constexpr int THREADS = 1024;

__global__ void look_up_global(float *__restrict__ out, const int *__restrict__ index,
                               const float *__restrict__ table, int n) {
    int i = blockIdx.x * THREADS + threadIdx.x;
    if (i < n) out[i] = table[index[i]];
}

__global__ void __launch_bounds__(THREADS, 2)
    look_up_shared(float *__restrict__ out, const int *__restrict__ index, const float *__restrict__ table,
                   int n, int entries) {
    extern __shared__ float copy[];
    for (int e = threadIdx.x; e < entries; e += THREADS) copy[e] = table[e];
    __syncthreads();
    int step = gridDim.x * THREADS;
    for (int i = blockIdx.x * THREADS + threadIdx.x; i < n; i += step) out[i] = copy[index[i]];
}

// Blocks of look_up_shared that the device holds at one time; 0 if the table is too large for a block.
static int resident_blocks(size_t bytes) {
    int device = 0, most = 0, sms = 0, blocks = 0;
    cudaGetDevice(&device);
    cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, device);
    cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device);
    if (bytes > (size_t)most) return 0;
    return 2 * sms;
}

extern "C" void shared_budget(float *out, const int *index, const float *table, int n, int entries) {
    if (n == 0) return;
    size_t bytes = entries * sizeof(float);
    int needed = (n + THREADS - 1) / THREADS, resident = resident_blocks(bytes);
    if (resident > 0)
        look_up_shared<<<min(needed, resident), THREADS, bytes>>>(out, index, table, n, entries);
    else
        look_up_global<<<needed, THREADS>>>(out, index, table, n);
}
