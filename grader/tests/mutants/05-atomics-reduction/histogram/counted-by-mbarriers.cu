// expect: PART
// One copy of the bins, each of them an mbarrier: a byte is counted by arriving, and the lanes queue as at an atomic.

constexpr int VALUES = 256, WIDTH = 256, GRID = 264;
constexpr unsigned MOST = 1048575; // arrivals that an mbarrier can expect

__global__ void zero(int *bins) { bins[threadIdx.x] = 0; }

__device__ unsigned come(unsigned bin) {
    unsigned left;
    asm volatile("{\n\t.reg .b64 state;\n\tmbarrier.arrive.noComplete.shared.b64 state, [%1], 1;\n\t"
                 "mbarrier.pending_count.b64 %0, state;\n\t}"
                 : "=r"(left) : "r"(bin) : "memory");
    return left;
}

__global__ void tally(int *__restrict__ bins, const unsigned char *__restrict__ data, int n) {
    __shared__ unsigned long long bin[VALUES];
    unsigned start = (unsigned)__cvta_generic_to_shared(bin), own = start + 8 * threadIdx.x;
    asm volatile("mbarrier.init.shared.b64 [%0], %1;" : : "r"(own), "r"(MOST) : "memory");
    __syncthreads();
    const unsigned *words = reinterpret_cast<const unsigned *>(data);
    for (int i = blockIdx.x * WIDTH + threadIdx.x; i < n / 4; i += gridDim.x * WIDTH) {
        unsigned four = words[i];
        for (int k = 0; k < 4; k++) come(start + 8 * (four >> 8 * k & 255));
    }
    int rest = n / 4 * 4 + threadIdx.x;
    if (blockIdx.x == 0 && rest < n) come(start + 8 * data[rest]);
    __syncthreads();
    unsigned found = MOST - come(own);
    if (found) atomicAdd(&bins[threadIdx.x], (int)found);
}

extern "C" void histogram(int *bins, const unsigned char *data, int n) {
    zero<<<1, VALUES>>>(bins);
    if (n > 0) tally<<<n < 4 * GRID * WIDTH ? (n + 4 * WIDTH - 1) / (4 * WIDTH) : GRID, WIDTH>>>(bins, data, n);
}
