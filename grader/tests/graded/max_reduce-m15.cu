// Right: a lock that one thread of each block takes.
// at first: modelled time far off
// expect: PART 0 30
// says: one atomic per block
// m15: spin lock by one thread a block, correct (atomicCAS acquire, threadfence, atomicExch release)
__device__ int lock;
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
        while (atomicCAS(&lock, 0, 1) != 0) ;
        __threadfence();
        *(volatile float *)out = fmaxf(*(volatile float *)out, m);
        __threadfence();
        atomicExch(&lock, 0);
    }
}
extern "C" void max_reduce(float *out, const float *in, int n) {
    start<<<1, 1>>>(out);
    if (n == 0) return;
    reduce<<<min((n + 255) / 256, 528), 256>>>(out, in, n);
}
