// inclusive_scan: the model solution. Each warp has a stretch of `in`, and has its prefix before it starts. A lane adds
// up four neighbours by itself, and exchanges one sum with the other lanes for all four. The second kernel walks its
// stretches backwards, since L2 still holds what the first one read last.

constexpr int THREADS = 256, WARPS = THREADS / 32, MAX_BLOCKS = 792; // 6 blocks for each of 132 SMs
constexpr int AHEAD = 4, ROUND = 32 * 4 * AHEAD;                      // elements of a warp in flight
constexpr unsigned ALL = 0xffffffff;
// tune: MAX_BLOCKS 528 792 1056

__device__ unsigned total[MAX_BLOCKS][WARPS], total_of_block[MAX_BLOCKS];

__device__ uint4 load(const unsigned *in, int i, int n) {
    if (i + 4 <= n) return *reinterpret_cast<const uint4 *>(in + i);
    return {i < n ? in[i] : 0, i + 1 < n ? in[i + 1] : 0, i + 2 < n ? in[i + 2] : 0, 0};
}

__device__ void store(unsigned *out, int i, int n, uint4 x) {
    if (i + 4 <= n) {
        *reinterpret_cast<uint4 *>(out + i) = x;
        return;
    }
    if (i < n) out[i] = x.x;
    if (i + 1 < n) out[i + 1] = x.y;
    if (i + 2 < n) out[i + 2] = x.z;
}

// Loads the lane's elements of this round before the first addition.
__device__ void load_round(uint4 *x, const unsigned *in, int base, int last) {
#pragma unroll
    for (int k = 0; k < AHEAD; k++) x[k] = load(in, base + 4 * (32 * k + threadIdx.x % 32), last);
}

__global__ void add_parts(const unsigned *__restrict__ in, int n, int part) {
    __shared__ unsigned sum;
    int warp = threadIdx.x / 32, first = (blockIdx.x * WARPS + warp) * part, last = min(n, first + part);
    unsigned mine = 0;
    if (threadIdx.x == 0) sum = 0;
    __syncthreads();
    for (int base = first; base < last; base += ROUND) {
        uint4 x[AHEAD];
        load_round(x, in, base, last);
#pragma unroll
        for (int k = 0; k < AHEAD; k++) mine += x[k].x + x[k].y + x[k].z + x[k].w;
    }
    mine = __reduce_add_sync(ALL, mine);
    if (threadIdx.x % 32 == 0) total[blockIdx.x][warp] = mine, atomicAdd(&sum, mine);
    __syncthreads();
    if (threadIdx.x == 0) total_of_block[blockIdx.x] = sum;
}

// Returns the sum over all earlier blocks and over the earlier warps of this block.
__device__ unsigned sum_before(int warp) {
    __shared__ unsigned blocks_before;
    if (threadIdx.x == 0) blocks_before = 0;
    __syncthreads();
    unsigned sum = 0;
    for (int b = threadIdx.x; b < blockIdx.x; b += THREADS) sum += total_of_block[b];
    sum = __reduce_add_sync(ALL, sum);
    if (threadIdx.x % 32 == 0) atomicAdd(&blocks_before, sum);
    __syncthreads();
    sum = blocks_before;
    for (int w = 0; w < WARPS; w++) sum += w < warp ? total[blockIdx.x][w] : 0;
    return sum;
}

__device__ unsigned scan_warp(unsigned x) {
#pragma unroll
    for (int distance = 1; distance < 32; distance *= 2) {
        unsigned other = __shfl_up_sync(ALL, x, distance);
        if (threadIdx.x % 32 >= distance) x += other;
    }
    return x;
}

__global__ void scan_parts(unsigned *__restrict__ out, const unsigned *__restrict__ in, int n, int part) {
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    int first = (blockIdx.x * WARPS + warp) * part, last = min(n, first + part);
    unsigned end = sum_before(warp) + total[blockIdx.x][warp]; // the sum up to the end of the round
    for (int base = first + part - ROUND; base >= first; base -= ROUND) {
        uint4 x[AHEAD];
        load_round(x, in, base, last);
#pragma unroll
        for (int k = AHEAD - 1; k >= 0; k--) {
            unsigned a = x[k].x, b = a + x[k].y, c = b + x[k].z, d = c + x[k].w, up_to = scan_warp(d);
            end -= __shfl_sync(ALL, up_to, 31);
            unsigned start = end + up_to - d; // the sum before the lane's four elements
            store(out, base + 4 * (32 * k + lane), last, {start + a, start + b, start + c, start + d});
        }
    }
}

extern "C" void inclusive_scan(unsigned *out, const unsigned *in, int n) {
    int part = (n / (MAX_BLOCKS * WARPS) + ROUND) / ROUND * ROUND; // elements of a warp, a multiple of its round
    int blocks = (n + WARPS * part - 1) / (WARPS * part);
    if (blocks == 0) return;
    add_parts<<<blocks, THREADS>>>(in, n, part);
    scan_parts<<<blocks, THREADS>>>(out, in, n, part);
}
