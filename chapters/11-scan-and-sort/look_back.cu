// look_back: out[i] = in[0] + in[1] + ... + in[i], for all i.

constexpr int THREADS = 256, WARPS = THREADS / 32, QUADS = 4, TILE = THREADS * QUADS * 4; // a lane holds four groups of four elements
constexpr int MAX_TILES = 1 << 14;
constexpr unsigned ALL = 0xffffffff;

__device__ unsigned total[MAX_TILES]; // of each tile; later the inclusive prefix sum

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

__global__ void scan_tiles(unsigned *__restrict__ out, const unsigned *__restrict__ in, int n) {
    uint4 x[QUADS];
    load_tile(x, in, blockIdx.x, n);
    unsigned tile_sum = scan_tile(x);
    if (threadIdx.x == 0) total[blockIdx.x] = tile_sum;
    store_tile(out, blockIdx.x, n, x, 0);
}

// One block replaces the totals by their inclusive prefix sums.
__global__ void scan_totals(int tiles) {
    __shared__ unsigned sum[32];
    unsigned prefix = 0;
    for (int base = 0; base < tiles; base += 1024) {
        int i = base + threadIdx.x;
        unsigned mine = scan_warp(i < tiles ? total[i] : 0), tile_sum = 0, start = prefix;
        if (threadIdx.x % 32 == 31) sum[threadIdx.x / 32] = mine;
        __syncthreads();
        for (int w = 0; w < 32; w++) start += w < threadIdx.x / 32 ? sum[w] : 0, tile_sum += sum[w];
        if (i < tiles) total[i] = start + mine;
        prefix += tile_sum;
        __syncthreads();
    }
}

__global__ void add_prefix(unsigned *out, int n) {
    uint4 x[QUADS];
    if (blockIdx.x == 0) return;
    load_tile(x, out, blockIdx.x, n);
    // TODO: all results are read and written once more, since no tile knew what lies before it. The block could have asked.
    store_tile(out, blockIdx.x, n, x, total[blockIdx.x - 1]);
}

extern "C" void look_back(unsigned *out, const unsigned *in, int n) {
    int tiles = (n + TILE - 1) / TILE;
    if (tiles == 0) return;
    scan_tiles<<<tiles, THREADS>>>(out, in, n);
    scan_totals<<<1, 1024>>>(tiles);
    add_prefix<<<tiles, THREADS>>>(out, n);
}
