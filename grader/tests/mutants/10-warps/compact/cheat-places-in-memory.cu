// expect: PART
// The flags lie in global memory, where each thread counts those before it in its block.

constexpr int THREADS = 256, MOST_BLOCKS = 1056;

__device__ int kept[MOST_BLOCKS];
__device__ __align__(16) unsigned char flags[(1 << 24) + (1 << 20)];

__global__ void count_kept(const int *in, int n, int part) {
    __shared__ int total;
    if (threadIdx.x == 0) total = 0;
    __syncthreads();
    int first = blockIdx.x * part, last = min(n, first + part), mine = 0;
    for (int i = first + threadIdx.x; i < first + part; i += THREADS) {
        bool keep = i < last && in[i] > 0;
        flags[i] = keep;
        mine += keep;
    }
    atomicAdd(&total, mine);
    __syncthreads();
    if (threadIdx.x == 0) kept[blockIdx.x] = total;
}

__global__ void write_kept(int *out, int *count, const int *in, int n, int part) {
    __shared__ int start;
    int t = threadIdx.x, before = 0;
    if (t == 0) start = 0;
    __syncthreads();
    for (int b = t; b < blockIdx.x; b += THREADS) before += kept[b];
    atomicAdd(&start, before);
    __syncthreads();
    int next = start, first = blockIdx.x * part, last = min(n, first + part);
    for (int base = first; base < last; base += THREADS) {
        int place = next;
        for (int k = 0; k < THREADS; k += 16) { // 16 flags in one load, the same for all
            uint4 v = *(const uint4 *)(flags + base + k);
            unsigned words[4] = {v.x, v.y, v.z, v.w};
#pragma unroll
            for (int j = 0; j < 4; j++) {
                int bits = 8 * max(0, min(4, t - k - 4 * j));
                unsigned below = bits == 32 ? ~0u : (1u << bits) - 1;
                place += __popc(words[j] & below);
                next += __popc(words[j]);
            }
        }
        if (base + t < last && flags[base + t]) out[place] = in[base + t];
    }
    if (t == 0 && blockIdx.x == gridDim.x - 1) *count = next;
}

extern "C" void compact(int *out, int *count, const int *in, int n) {
    int part = (n / MOST_BLOCKS + THREADS) / THREADS * THREADS;
    int blocks = max(1, (n + part - 1) / part);
    count_kept<<<blocks, THREADS>>>(in, n, part);
    write_kept<<<blocks, THREADS>>>(out, count, in, n, part);
}
