// expect: PART
// Merged items go to out from each thread: its neighbour writes 64 bytes further.

constexpr int THREADS = 256, ITEMS = 8, TILE = THREADS * ITEMS; // items of a thread, and of a block
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

__global__ void __launch_bounds__(THREADS) merge(item *__restrict__ out, const item *__restrict__ a, const item *__restrict__ b, int na, int nb) {
    __shared__ item tile[TILE]; // the block's piece of a, then its piece of b
    __shared__ int splits[2];
    int t = threadIdx.x, begin = blockIdx.x * TILE, n = min(TILE, na + nb - begin);
    if (t == 0 || t == 32) splits[t / 32] = split(a, na, b, nb, t ? begin + n : begin); // two warps search at the same time
    __syncthreads();
    int first_a = splits[0], count_a = splits[1] - first_a, first_b = begin - first_a, count_b = n - count_a;
    for (int k = t; k < n; k += THREADS) tile[k] = k < count_a ? a[first_a + k] : b[first_b + k - count_a];
    __syncthreads();

    const item *piece_a = tile, *piece_b = tile + count_a;
    int mine = min(t * ITEMS, n), i = split(piece_a, count_a, piece_b, count_b, mine), j = mine - i;
    item x = i < count_a ? piece_a[i] : 0, y = j < count_b ? piece_b[j] : 0; // the next item of each
    for (int k = mine; k < min(mine + ITEMS, n); k++) {
        bool is_a = j >= count_b || (i < count_a && key_of(x) <= key_of(y));
        out[begin + k] = is_a ? x : y;
        int next = is_a ? ++i : count_a + ++j;
        item there = tile[min(next, n - 1)]; // one load for both kinds of lanes
        if (is_a) x = there;
        else y = there;
    }
}

extern "C" void merge_path(unsigned long long *out, const unsigned long long *a, const unsigned long long *b, int na, int nb) {
    if (na + nb > 0) merge<<<(na + nb + TILE - 1) / TILE, THREADS>>>(out, a, b, na, nb);
}
