// Step 1: each part of 256 elements is scanned in shared memory, round by round; the block's prefix is added afterwards.

constexpr int THREADS = 256, MAX_BLOCKS = 1024;

__device__ unsigned total[MAX_BLOCKS]; // of each block's part of `in`; later the inclusive prefix sum

__global__ void scan_parts(unsigned *out, const unsigned *in, int n, int part) {
    __shared__ unsigned sum[2][THREADS];
    int t = threadIdx.x, first = blockIdx.x * part, last = min(n, first + part);
    unsigned before = 0;
    for (int base = first; base < last; base += THREADS) {
        int i = base + t, from = 0;
        sum[0][t] = i < last ? in[i] : 0;
        __syncthreads();
        // sum[from][t] is that of the `distance` elements up to t.
        for (int distance = 1; distance < THREADS; distance *= 2, from ^= 1) {
            unsigned here = sum[from][t];
            sum[from ^ 1][t] = t < distance ? here : here + sum[from][t - distance];
            __syncthreads();
        }
        if (i < last) out[i] = before + sum[from][t];
        before += sum[from][THREADS - 1];
        __syncthreads();
    }
    if (t == 0) total[blockIdx.x] = before;
}

__global__ void scan_totals() {
    __shared__ unsigned sum[2][MAX_BLOCKS];
    int t = threadIdx.x, from = 0;
    sum[0][t] = total[t];
    __syncthreads();
    for (int distance = 1; distance < blockDim.x; distance *= 2, from ^= 1) {
        unsigned here = sum[from][t];
        sum[from ^ 1][t] = t < distance ? here : here + sum[from][t - distance];
        __syncthreads();
    }
    total[t] = sum[from][t];
}

__global__ void add_before(unsigned *out, int n, int part) {
    int first = blockIdx.x * part, last = min(n, first + part);
    if (blockIdx.x == 0) return;
    unsigned before = total[blockIdx.x - 1];
    for (int i = first + threadIdx.x; i < last; i += THREADS) out[i] += before;
}

extern "C" void inclusive_scan(unsigned *out, const unsigned *in, int n) {
    int part = (n / MAX_BLOCKS + THREADS) / THREADS * THREADS; // elements of a block, a multiple of its round
    int blocks = (n + part - 1) / part;
    if (blocks == 0) return;
    scan_parts<<<blocks, THREADS>>>(out, in, n, part);
    scan_totals<<<1, blocks>>>();
    add_before<<<blocks, THREADS>>>(out, n, part);
}
