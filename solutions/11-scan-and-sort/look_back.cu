// look_back: the model solution. One pass: a tile publishes its sum before it computes its prefix, and a warp examines 32 tiles at a
// time, back to the nearest inclusive prefix.

constexpr int THREADS = 256, WARPS = THREADS / 32, QUADS = 6, TILE = THREADS * QUADS * 4; // a lane holds six groups of four elements
constexpr int MAX_TILES = 1 << 14;
// tune: QUADS 4 6 8
constexpr unsigned ALL = 0xffffffff;

// By tile: the lower half is a sum, the upper half says which. One 64-bit access moves both, so no fence is needed.
using tile_status = unsigned long long;
constexpr tile_status PARTIAL_SUM = 1ull << 32, INCLUSIVE_PREFIX = 2ull << 32;
__device__ tile_status status[MAX_TILES];
__device__ int next_tile;

__device__ tile_status load_status(int tile) { return *static_cast<volatile tile_status *>(&status[tile]); }
__device__ void publish_status(int tile, tile_status flag, unsigned sum) { *static_cast<volatile tile_status *>(&status[tile]) = flag | sum; }

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

// Returns the index of the lane's k-th group of four elements.
__device__ int element_index(int tile, int k) {
    return tile * TILE + (threadIdx.x / 32 * QUADS + k) * 128 + threadIdx.x % 32 * 4;
}

__device__ void load_tile(uint4 (&x)[QUADS], const unsigned *in, int tile, int n) {
#pragma unroll
    for (int k = 0; k < QUADS; k++) x[k] = load(in, element_index(tile, k), n);
}

__device__ void store_tile(unsigned *out, int tile, int n, const uint4 (&x)[QUADS], unsigned prefix) {
#pragma unroll
    for (int k = 0; k < QUADS; k++)
        store(out, element_index(tile, k), n, {prefix + x[k].x, prefix + x[k].y, prefix + x[k].z, prefix + x[k].w});
}

__device__ unsigned scan_warp(unsigned x) {
#pragma unroll
    for (int distance = 1; distance < 32; distance *= 2) {
        unsigned other = __shfl_up_sync(ALL, x, distance);
        if (threadIdx.x % 32 >= distance) x += other;
    }
    return x;
}

// Replaces each element by the inclusive prefix sum within the tile. Returns the tile's sum.
__device__ unsigned scan_tile(uint4 (&x)[QUADS]) {
    __shared__ unsigned sum[WARPS];
    unsigned prefix = 0, tile_sum = 0, warp_sum = 0;
#pragma unroll
    for (int k = 0; k < QUADS; k++) {
        unsigned a = x[k].x, b = a + x[k].y, c = b + x[k].z, d = c + x[k].w, inclusive = scan_warp(d), start = warp_sum + inclusive - d;
        x[k] = {start + a, start + b, start + c, start + d};
        warp_sum += __shfl_sync(ALL, inclusive, 31);
    }
    if (threadIdx.x % 32 == 0) sum[threadIdx.x / 32] = warp_sum;
    __syncthreads();
    for (int w = 0; w < WARPS; w++) prefix += w < threadIdx.x / 32 ? sum[w] : 0, tile_sum += sum[w];
#pragma unroll
    for (int k = 0; k < QUADS; k++) x[k] = {prefix + x[k].x, prefix + x[k].y, prefix + x[k].z, prefix + x[k].w};
    return tile_sum;
}

// The first warp examines 32 tiles at a time until one has its inclusive prefix. The prefix before tile 0 is 0.
__device__ unsigned exclusive_prefix(int tile, unsigned tile_sum) {
    unsigned sum = 0, prefix_mask = 0;
    if (threadIdx.x == 0 && tile > 0) publish_status(tile, PARTIAL_SUM, tile_sum);
    for (int last = tile - 1; !prefix_mask; last -= 32) {
        int t = last - threadIdx.x; // this lane's tile
        tile_status found;
        do found = t < 0 ? INCLUSIVE_PREFIX : load_status(t);
        while (__any_sync(ALL, !found));
        prefix_mask = __ballot_sync(ALL, found >= INCLUSIVE_PREFIX);
        bool counts = !prefix_mask || threadIdx.x < __ffs(prefix_mask); // skips tiles before the nearest inclusive prefix
        sum += __reduce_add_sync(ALL, counts ? (unsigned)found : 0);
    }
    if (threadIdx.x == 0) publish_status(tile, INCLUSIVE_PREFIX, sum + tile_sum);
    return sum;
}

__global__ void clear(int tiles) {
    int i = blockIdx.x * THREADS + threadIdx.x;
    if (i < tiles) status[i] = 0;
    if (i == 0) next_tile = 0;
}

// Blocks take their tile in the order in which they start, so a block waits only for blocks that are already running.
__global__ void scan_tiles(unsigned *__restrict__ out, const unsigned *__restrict__ in, int n) {
    __shared__ int ticket;
    __shared__ unsigned prefix;
    uint4 x[QUADS];
    if (threadIdx.x == 0) ticket = atomicAdd(&next_tile, 1);
    __syncthreads();
    int tile = ticket;
    load_tile(x, in, tile, n);
    unsigned tile_sum = scan_tile(x);
    if (threadIdx.x < 32) {
        unsigned sum = exclusive_prefix(tile, tile_sum);
        if (threadIdx.x == 0) prefix = sum;
    }
    __syncthreads();
    store_tile(out, tile, n, x, prefix);
}

extern "C" void look_back(unsigned *out, const unsigned *in, int n) {
    int tiles = (n + TILE - 1) / TILE;
    if (tiles == 0) return;
    clear<<<(tiles + THREADS - 1) / THREADS, THREADS>>>(tiles);
    scan_tiles<<<tiles, THREADS>>>(out, in, n);
}
