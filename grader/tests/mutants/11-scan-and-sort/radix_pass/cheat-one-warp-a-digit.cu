// expect: PART
// A block for each digit and part: each reads all keys of the part and keeps those of its digit, side by side.

constexpr int PARTS = 64, THREADS = 256, DIGITS = 16;
constexpr unsigned ALL = 0xffffffff;
__device__ int counts[DIGITS][PARTS];

__device__ int kept(const unsigned *in, int i, int last, int shift, int digit) { return i < last && (in[i] >> shift & 15) == digit; }

__global__ void count_digits(const unsigned *in, int n, int part, int shift) {
    int first = blockIdx.x * part, last = min(n, first + part), mine = 0;
    for (int i = first + threadIdx.x; i < last; i += 32) mine += kept(in, i, last, shift, blockIdx.y);
    mine = __reduce_add_sync(ALL, mine);
    if (threadIdx.x == 0) counts[blockIdx.y][blockIdx.x] = mine;
}

__global__ void move_keys(unsigned *out, const unsigned *in, int n, int part, int shift) {
    int first = blockIdx.x * part, last = min(n, first + part), lane = threadIdx.x, next = 0;
    for (int d = 0; d <= blockIdx.y; d++)
        for (int b = lane; b < (d < blockIdx.y ? gridDim.x : blockIdx.x); b += 32) next += counts[d][b];
    next = __reduce_add_sync(ALL, next);
    for (int base = first; base < last; base += 32) {
        bool keep = kept(in, base + lane, last, shift, blockIdx.y);
        unsigned votes = __ballot_sync(ALL, keep);
        if (keep) out[next + __popc(votes & ((1u << lane) - 1))] = in[base + lane];
        next += __popc(votes);
    }
}

extern "C" void radix_pass(unsigned *out, const unsigned *in, int n, int shift) {
    int part = (n + PARTS - 1) / PARTS;
    if (n == 0) return;
    dim3 grid((n + part - 1) / part, DIGITS);
    count_digits<<<grid, 32>>>(in, n, part, shift);
    move_keys<<<grid, 32>>>(out, in, n, part, shift);
}
