// expect: WA|RTE
// Does not look whether a piece is used up.

constexpr int THREADS = 256;
constexpr int ITEMS = 9; // of a thread
constexpr int TILE = THREADS * ITEMS, MAX_BLOCKS = (1 << 30) / TILE + 1;
using item = unsigned long long;

__device__ unsigned key_of(item x) { return x >> 32; }

// Returns how many of the first `diagonal` items of the merged array come from a.
__device__ int split(const item *a, int na, const item *b, int nb, int diagonal) {
    int low = max(0, diagonal - nb), high = min(diagonal, na);
    while (low < high) {
        int middle = (low + high) / 2;
        if (key_of(a[middle]) <= key_of(b[diagonal - 1 - middle])) low = middle + 1;
        else high = middle;
    }
    return low;
}

__device__ int splits[MAX_BLOCKS + 1]; // how many of the items before each block's piece of out come from a

__global__ void find_splits(const item *__restrict__ a, const item *__restrict__ b, int na, int nb, int blocks) {
    int block = blockIdx.x * 32 + threadIdx.x;
    if (block <= blocks) splits[block] = split(a, na, b, nb, min(block * TILE, na + nb));
}

__global__ void __launch_bounds__(THREADS) merge(item *__restrict__ out, const item *__restrict__ a, const item *__restrict__ b, int na, int nb) {
    __shared__ item tile[TILE]; // the block's piece of a, then its piece of b
    int t = threadIdx.x, begin = blockIdx.x * TILE, n = min(TILE, na + nb - begin);
    int first_a = splits[blockIdx.x], count_a = splits[blockIdx.x + 1] - first_a, first_b = begin - first_a, count_b = n - count_a;
    for (int k = t; k < n; k += THREADS) tile[k] = k < count_a ? a[first_a + k] : b[first_b + k - count_a];
    __syncthreads();

    const item *piece_a = tile, *piece_b = tile + count_a;
    int mine = min(t * ITEMS, n), i = split(piece_a, count_a, piece_b, count_b, mine), j = mine - i;
    item x = i < count_a ? piece_a[i] : 0, y = j < count_b ? piece_b[j] : 0; // the next item of each
    item merged[ITEMS];
#pragma unroll
    for (int k = 0; k < ITEMS; k++) {
        bool is_a = key_of(x) <= key_of(y);
        merged[k] = is_a ? x : y;
        int next = is_a ? ++i : count_a + ++j;
        item there = tile[min(next, n - 1)]; // one load for both kinds of lanes
        if (is_a) x = there;
        else y = there;
    }
    __syncthreads(); // all have read the pieces
#pragma unroll
    for (int k = 0; k < ITEMS; k++) tile[t * ITEMS + k] = merged[k];
    __syncthreads();
    for (int k = t; k < n; k += THREADS) out[begin + k] = tile[k];
}

extern "C" void merge_path(unsigned long long *out, const unsigned long long *a, const unsigned long long *b, int na, int nb) {
    int blocks = (na + nb + TILE - 1) / TILE;
    if (blocks == 0) return;
    find_splits<<<blocks / 32 + 1, 32>>>(a, b, na, nb, blocks);
    merge<<<blocks, THREADS>>>(out, a, b, na, nb);
}
