// expect: PART
// One thread counts 256 flags that lie packed as bytes: 16 reads of shared memory, and all the rest as before.

constexpr int THREADS = 256, MOST_BLOCKS = 1056; // 8 blocks for each of 132 SMs

__device__ int kept[MOST_BLOCKS]; // by each block's part of `in`

__global__ void count_kept(const int *in, int n, int part) {
    __shared__ int total;
    if (threadIdx.x == 0) total = 0;
    __syncthreads();
    int last = min(n, (int)(blockIdx.x + 1) * part), mine = 0;
    for (int i = blockIdx.x * part + threadIdx.x; i < last; i += THREADS) mine += in[i] > 0;
    atomicAdd(&total, mine);
    __syncthreads();
    if (threadIdx.x == 0) kept[blockIdx.x] = total;
}

__global__ void write_kept(int *out, int *count, const int *in, int n, int part) {
    __shared__ int next, base_of[THREADS / 16];
    __shared__ __align__(16) unsigned char place[THREADS];
    int t = threadIdx.x, before = 0;
    if (t == 0) next = 0;
    __syncthreads();
    for (int b = t; b < blockIdx.x; b += THREADS) before += kept[b];
    atomicAdd(&next, before); // where the block's own elements begin
    __syncthreads();

    int first = blockIdx.x * part, last = min(n, first + part);
    for (int base = first; base < last; base += THREADS) {
        int i = base + t;
        int x = i < last ? in[i] : 0;
        bool keep = x > 0;
        place[t] = keep;
        __syncthreads();
        if (t == 0)
            for (int k = 0; k < THREADS; k += 16) {
                uint4 v = *(const uint4 *)(place + k);
                unsigned words[4] = {v.x, v.y, v.z, v.w}, upto = 0;
                base_of[k / 16] = next;
#pragma unroll
                for (int j = 0; j < 16; j++) {
                    unsigned one = words[j / 4] >> j % 4 * 8 & 1;
                    words[j / 4] = words[j / 4] & ~(255u << j % 4 * 8) | upto << j % 4 * 8;
                    upto += one;
                }
                next += upto;
                *(uint4 *)(place + k) = make_uint4(words[0], words[1], words[2], words[3]);
            }
        __syncthreads();
        if (keep) out[base_of[t / 16] + place[t]] = x;
    }
    if (t == 0 && blockIdx.x == gridDim.x - 1) *count = next;
}

extern "C" void compact(int *out, int *count, const int *in, int n) {
    int part = (n / MOST_BLOCKS + THREADS) / THREADS * THREADS; // elements of a block, whole rounds
    int blocks = max(1, (n + part - 1) / part);
    count_kept<<<blocks, THREADS>>>(in, n, part);
    write_kept<<<blocks, THREADS>>>(out, count, in, n, part);
}
