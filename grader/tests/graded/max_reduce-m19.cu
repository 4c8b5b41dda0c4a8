// Right: a barrier of the whole grid.
// at first: modelled time far off
// expect: PART 60 90
// says: one atomic per block
// m19: grid barrier, few enough blocks
__device__ unsigned lock;
__device__ float partial[100000];
__global__ void start(float *out) { *out = -INFINITY; }
__global__ void reduce(float *out, const float *in, int n) {
    __shared__ float part[8];
    float m = -INFINITY;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) m = fmaxf(m, in[i]);
    for (int d = 16; d; d /= 2) m = fmaxf(m, __shfl_xor_sync(~0u, m, d));
    if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = m;
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int w = 1; w < 8; w++) m = fmaxf(m, part[w]);
        partial[blockIdx.x] = m;
        __threadfence();
        atomicAdd(&lock, 1);
        while (atomicAdd(&lock, 0) < gridDim.x) ;
        __threadfence();
        if (blockIdx.x == 0) {
            for (int b = 0; b < gridDim.x; b++) m = fmaxf(m, ((volatile float *)partial)[b]);
            *out = m;
        }
    }
}
extern "C" void max_reduce(float *out, const float *in, int n) {
    start<<<1, 1>>>(out);
    if (n == 0) return;
    unsigned zero = 0; cudaMemcpyToSymbol(lock, &zero, 4);
    reduce<<<min((n + 255) / 256, 264), 256>>>(out, in, n);
}
