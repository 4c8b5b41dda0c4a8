// expect: PART
// Each thread merges its run in global memory: few loads, and each of a warp touches 32 sectors.

constexpr int THREADS = 256, ITEMS = 8;
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

__global__ void merge(item *__restrict__ out, const item *__restrict__ a, const item *__restrict__ b, int na, int nb) {
    int begin = min((blockIdx.x * THREADS + threadIdx.x) * ITEMS, na + nb), end = min(begin + ITEMS, na + nb);
    int i = split(a, na, b, nb, begin), j = begin - i;
    for (int k = begin; k < end; k++) {
        bool is_a = j >= nb || (i < na && key_of(a[i]) <= key_of(b[j]));
        out[k] = is_a ? a[i++] : b[j++];
    }
}

extern "C" void merge_path(unsigned long long *out, const unsigned long long *a, const unsigned long long *b, int na, int nb) {
    constexpr int TILE = THREADS * ITEMS;
    if (na + nb > 0) merge<<<(na + nb + TILE - 1) / TILE, THREADS>>>(out, a, b, na, nb);
}
