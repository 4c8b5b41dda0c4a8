// Step 2: a tree up and a tree down: two additions an element in place of eight.

constexpr int THREADS = 256, MAX_BLOCKS = 1024;

__device__ unsigned total[MAX_BLOCKS]; // of each block's part of `in`; later the inclusive prefix sum

constexpr int TILE = 2 * THREADS;

// Replaces the elements by exclusive prefix sums; returns the total.
__device__ unsigned scan_tile(unsigned *sum) {
    int t = threadIdx.x, distance = 1;
    for (int active = THREADS; active > 0; active /= 2, distance *= 2) { // up: sums of 2, 4, 8 ... elements
        if (t < active) sum[distance * (2 * t + 2) - 1] += sum[distance * (2 * t + 1) - 1];
        __syncthreads();
    }
    unsigned all = sum[TILE - 1];
    __syncthreads();
    if (t == 0) sum[TILE - 1] = 0;
    __syncthreads();
    for (int active = 1; active <= THREADS; active *= 2) { // down: the sum before each of them
        distance /= 2;
        if (t < active) {
            int left = distance * (2 * t + 1) - 1, right = distance * (2 * t + 2) - 1;
            unsigned before = sum[right];
            sum[right] = before + sum[left];
            sum[left] = before;
        }
        __syncthreads();
    }
    return all;
}

__global__ void scan_parts(unsigned *out, const unsigned *in, int n, int part) {
    __shared__ unsigned sum[TILE];
    int t = threadIdx.x, first = blockIdx.x * part, last = min(n, first + part);
    unsigned before = 0;
    for (int base = first; base < last; base += TILE) {
        int i = base + t, j = i + THREADS;
        unsigned x = i < last ? in[i] : 0, y = j < last ? in[j] : 0;
        sum[t] = x, sum[t + THREADS] = y;
        __syncthreads();
        unsigned all = scan_tile(sum);
        if (i < last) out[i] = before + sum[t] + x; // `sum` does not hold the element itself
        if (j < last) out[j] = before + sum[t + THREADS] + y;
        before += all;
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
    int part = (n / MAX_BLOCKS + TILE) / TILE * TILE; // elements of a block, a multiple of its round
    int blocks = (n + part - 1) / part;
    if (blocks == 0) return;
    scan_parts<<<blocks, THREADS>>>(out, in, n, part);
    scan_totals<<<1, blocks>>>();
    add_before<<<blocks, THREADS>>>(out, n, part);
}
