// expect: PART
// Blocks of one warp scan in shared memory: no barrier of several warps, and as many accesses as before.

constexpr int MAX_BLOCKS = 8192;
__device__ unsigned total[MAX_BLOCKS];

__global__ void add_parts(const unsigned *in, int n, int part) {
    int first = blockIdx.x * part, last = min(n, first + part);
    unsigned mine = 0;
    for (int i = first + threadIdx.x; i < last; i += 32) mine += in[i];
    mine = __reduce_add_sync(0xffffffff, mine);
    if (threadIdx.x == 0) total[blockIdx.x] = mine;
}

__global__ void scan_parts(unsigned *out, const unsigned *in, int n, int part) {
    __shared__ unsigned sum[2][32];
    int t = threadIdx.x, first = blockIdx.x * part, last = min(n, first + part);
    unsigned before = 0;
    for (int b = t; b < blockIdx.x; b += 32) before += total[b];
    before = __reduce_add_sync(0xffffffff, before);
    for (int base = first; base < last; base += 32) {
        int i = base + t, from = 0;
        sum[0][t] = i < last ? in[i] : 0;
        __syncwarp();
        for (int distance = 1; distance < 32; distance *= 2, from ^= 1) {
            unsigned here = sum[from][t];
            sum[from ^ 1][t] = t < distance ? here : here + sum[from][t - distance];
            __syncwarp();
        }
        if (i < last) out[i] = before + sum[from][t];
        before += sum[from][31];
        __syncwarp();
    }
}

extern "C" void inclusive_scan(unsigned *out, const unsigned *in, int n) {
    int part = (n / MAX_BLOCKS + 32) / 32 * 32, blocks = (n + part - 1) / part;
    if (blocks == 0) return;
    add_parts<<<blocks, 32>>>(in, n, part);
    scan_parts<<<blocks, 32>>>(out, in, n, part);
}
