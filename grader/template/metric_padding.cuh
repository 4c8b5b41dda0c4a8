// Idle work that `grader verify` appends to a version (grader/cli/metric_padding.c). It is as
// well-formed as possible: coalesced loads and stores, no bank conflicts, full warps, shuffles,
// barriers, fused operations. With it, a bad kernel passes a limit on an average, but none on a
// total.

template <class... P, class... A> static void padding_call(void (*entry)(P...), A... arguments) {
    entry((P)arguments...);
}

static __global__ void padding_kernel(volatile float *idle) {
    __shared__ float bank[256];
    float sum = 0;
    for (int iteration = 0; iteration < 256; iteration++) {
        bank[threadIdx.x] = idle[blockIdx.x * 256 + threadIdx.x] + iteration;
        sum = fmaf(sum, 0.5f, bank[threadIdx.x]) + __shfl_xor_sync(0xffffffff, sum, 1);
        idle[blockIdx.x * 256 + threadIdx.x] = sum;
        __syncthreads();
    }
}

// Only coalesced loads and stores: limits on totals would detect shared memory and barriers.
static __global__ void padding_vector_kernel(volatile float *idle) {
#pragma unroll 16
    for (int iteration = 0; iteration < 256; iteration++) {
        float value = idle[blockIdx.x * 256 + threadIdx.x];
        idle[blockIdx.x * 256 + threadIdx.x] = value;
    }
}

static void padding_launch(void (*kernel)(volatile float *)) {
    enum { BLOCKS = 256, BYTES = BLOCKS * 256 * 4 };
    float *idle;
    if (cudaMalloc(&idle, BYTES) != cudaSuccess) return;
    cudaMemset(idle, 0, BYTES);
    kernel<<<BLOCKS, 256>>>(idle);
    cudaFree(idle);
}
