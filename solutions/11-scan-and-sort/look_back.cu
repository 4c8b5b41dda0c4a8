// look_back: the model solution. One pass: a tile says what it has before it knows what lies before it, and a warp looks at 32 tiles at a
// time, back to the nearest that knows.

constexpr int THREADS = 256, WARPS = THREADS / 32, QUADS = 4, TILE = THREADS * QUADS * 4; // a lane has four times four elements
constexpr int MOST_TILES = 1 << 14;
constexpr unsigned ALL = 0xffffffff;

// Of each tile: in the lower half a sum, in the upper half of what. They come and go together, so that no fence is needed.
using word = unsigned long long;
constexpr word OF_IT = 1ull << 32, UP_TO = 2ull << 32;
__device__ word state[MOST_TILES];
__device__ int next_tile;

__device__ word look(int tile) { return *static_cast<volatile word *>(&state[tile]); }
__device__ void say(int tile, word what, unsigned sum) { *static_cast<volatile word *>(&state[tile]) = what | sum; }

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

// Where the lane's k-th four elements lie.
__device__ int place(int tile, int k) {
    return tile * TILE + (threadIdx.x / 32 * QUADS + k) * 128 + threadIdx.x % 32 * 4;
}

__device__ void load_tile(uint4 (&x)[QUADS], const unsigned *in, int tile, int n) {
#pragma unroll
    for (int k = 0; k < QUADS; k++) x[k] = load(in, place(tile, k), n);
}

__device__ void store_tile(unsigned *out, int tile, int n, const uint4 (&x)[QUADS], unsigned before) {
#pragma unroll
    for (int k = 0; k < QUADS; k++)
        store(out, place(tile, k), n, {before + x[k].x, before + x[k].y, before + x[k].z, before + x[k].w});
}

__device__ unsigned scan_warp(unsigned x) {
#pragma unroll
    for (int distance = 1; distance < 32; distance *= 2) {
        unsigned other = __shfl_up_sync(ALL, x, distance);
        if (threadIdx.x % 32 >= distance) x += other;
    }
    return x;
}

// Each element becomes the sum of the tile's elements up to it. Returns the sum of all of them.
__device__ unsigned scan_tile(uint4 (&x)[QUADS]) {
    __shared__ unsigned sum[WARPS];
    unsigned before = 0, all = 0, some = 0;
#pragma unroll
    for (int k = 0; k < QUADS; k++) {
        unsigned a = x[k].x, b = a + x[k].y, c = b + x[k].z, d = c + x[k].w, up_to = scan_warp(d), start = some + up_to - d;
        x[k] = {start + a, start + b, start + c, start + d};
        some += __shfl_sync(ALL, up_to, 31);
    }
    if (threadIdx.x % 32 == 0) sum[threadIdx.x / 32] = some;
    __syncthreads();
    for (int w = 0; w < WARPS; w++) before += w < threadIdx.x / 32 ? sum[w] : 0, all += sum[w];
#pragma unroll
    for (int k = 0; k < QUADS; k++) x[k] = {before + x[k].x, before + x[k].y, before + x[k].z, before + x[k].w};
    return all;
}

// The first warp looks at 32 tiles at a time, until one of them knows what all up to it have. Before the first tile lies nothing.
__device__ unsigned sum_before(int tile, unsigned all) {
    unsigned sum = 0, known = 0;
    if (threadIdx.x == 0 && tile > 0) say(tile, OF_IT, all);
    for (int last = tile - 1; !known; last -= 32) {
        int t = last - threadIdx.x; // the lane's
        word found;
        do found = t < 0 ? UP_TO : look(t);
        while (__any_sync(ALL, !found));
        known = __ballot_sync(ALL, found >= UP_TO);
        bool counts = !known || threadIdx.x < __ffs(known); // not what lies before the nearest that knows
        sum += __reduce_add_sync(ALL, counts ? (unsigned)found : 0);
    }
    if (threadIdx.x == 0) say(tile, UP_TO, sum + all);
    return sum;
}

__global__ void clear(int tiles) {
    int i = blockIdx.x * THREADS + threadIdx.x;
    if (i < tiles) state[i] = 0;
    if (i == 0) next_tile = 0;
}

// Blocks number themselves as they begin: who waits, waits for one that runs already.
__global__ void scan_tiles(unsigned *__restrict__ out, const unsigned *__restrict__ in, int n) {
    __shared__ int drawn;
    __shared__ unsigned before;
    uint4 x[QUADS];
    if (threadIdx.x == 0) drawn = atomicAdd(&next_tile, 1);
    __syncthreads();
    int tile = drawn;
    load_tile(x, in, tile, n);
    unsigned all = scan_tile(x);
    if (threadIdx.x < 32) {
        unsigned sum = sum_before(tile, all);
        if (threadIdx.x == 0) before = sum;
    }
    __syncthreads();
    store_tile(out, tile, n, x, before);
}

extern "C" void look_back(unsigned *out, const unsigned *in, int n) {
    int tiles = (n + TILE - 1) / TILE;
    if (tiles == 0) return;
    clear<<<(tiles + THREADS - 1) / THREADS, THREADS>>>(tiles);
    scan_tiles<<<tiles, THREADS>>>(out, in, n);
}
