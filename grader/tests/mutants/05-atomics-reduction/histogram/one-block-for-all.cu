// expect: PART
// A single block counts everything.

constexpr int BINS = 256, COPIES = 32, THREADS = 512, MAX_BLOCKS = 528; // 4 blocks for each of 132 SMs

__global__ void clear(int *bins) {
    bins[threadIdx.x] = 0;
}

__device__ void count_four(int (*part)[COPIES], int copy, unsigned word) {
#pragma unroll
    for (int shift = 0; shift < 32; shift += 8) atomicAdd(&part[word >> shift & 255][copy], 1);
}

__global__ void count(int *__restrict__ bins, const unsigned char *__restrict__ data, int n) {
    __shared__ int part[BINS][COPIES];
    int t = threadIdx.x, copy = t % COPIES;
    for (int i = t; i < BINS * COPIES; i += THREADS) part[i / COPIES][i % COPIES] = 0;
    __syncthreads();

    int first = blockIdx.x * THREADS + t, step = gridDim.x * THREADS;
    const uint4 *sixteens = reinterpret_cast<const uint4 *>(data);
    for (int i = first; i < n / 16; i += step) {
        uint4 v = sixteens[i];
        count_four(part, copy, v.x);
        count_four(part, copy, v.y);
        count_four(part, copy, v.z);
        count_four(part, copy, v.w);
    }
    if (first < n % 16) atomicAdd(&part[data[n / 16 * 16 + first]][copy], 1);
    __syncthreads();

    if (t >= BINS) return;
    int sum = 0;
    for (int k = 0; k < COPIES; k++)
        sum += part[t][(k + t) % COPIES]; // starting at different copies, so that lanes do not share a bank
    if (sum > 0) atomicAdd(&bins[t], sum);
}

extern "C" void histogram(int *bins, const unsigned char *data, int n) {
    clear<<<1, BINS>>>(bins);
    if (n == 0) return;
    int blocks = (n / 16 + THREADS - 1) / THREADS;
    count<<<1, THREADS>>>(bins, data, n);
}
