// Step 1: each item finds its place by a search in the other array.

constexpr int THREADS = 256;

__device__ unsigned key_of(unsigned long long x) { return x >> 32; }

// Returns how many of the n sorted items precede `key`. Items with an equal key precede it if `equal_first`.
__device__ int count_before(const unsigned long long *items, int n, unsigned key, bool equal_first) {
    int low = 0, high = n;
    while (low < high) {
        int middle = (low + high) / 2;
        unsigned there = key_of(items[middle]);
        if (there < key || (equal_first && there == key)) low = middle + 1;
        else high = middle;
    }
    return low;
}

// One thread for each item. Its place is its own index plus the number of items of the other array that precede it.
__global__ void place(unsigned long long *__restrict__ out, const unsigned long long *__restrict__ a, const unsigned long long *__restrict__ b, int na,
                      int nb) {
    int i = blockIdx.x * THREADS + threadIdx.x;
    if (i < na) {
        unsigned long long x = a[i];
        out[i + count_before(b, nb, key_of(x), false)] = x;
    } else if (i < na + nb) {
        unsigned long long x = b[i - na];
        out[i - na + count_before(a, na, key_of(x), true)] = x;
    }
}

extern "C" void merge_path(unsigned long long *out, const unsigned long long *a, const unsigned long long *b, int na, int nb) {
    if (na + nb > 0) place<<<(na + nb + THREADS - 1) / THREADS, THREADS>>>(out, a, b, na, nb);
}
