// expect: WA|RTE
// Counts of digits are added to what the call before left.

constexpr int THREADS = 256, WARPS = THREADS / 32, BITS = 4, DIGITS = 1 << BITS, MOST_BLOCKS = 528; // 4 blocks for each of 132 SMs
constexpr int KEYS = 16, OF_WARP = 32 * KEYS, TILE = THREADS * KEYS;                                // of a lane, a warp, a block
constexpr unsigned ALL = 0xffffffff;

// By digit and block: how many keys of the block's part have the digit, and where in `out` they begin.
__device__ int counts[DIGITS][MOST_BLOCKS], starts[DIGITS][MOST_BLOCKS];

__device__ int digit_of(unsigned key, int shift) { return key >> shift & (DIGITS - 1); }

// The lanes whose digit is this lane's own, and those whose digit is this lane's number (of lanes 0 to 15).
struct groups {
    unsigned mine, of_lane;
};

__device__ groups group(int digit, bool valid) {
    int lane = threadIdx.x % 32;
    unsigned all = __ballot_sync(ALL, valid);
    groups g = {all, all};
#pragma unroll
    for (int b = 0; b < BITS; b++) {
        unsigned votes = __ballot_sync(ALL, digit >> b & 1);
        g.mine &= digit >> b & 1 ? votes : ~votes;
        g.of_lane &= lane >> b & 1 ? votes : ~votes;
    }
    return g;
}

__global__ void count_digits(const unsigned *__restrict__ in, int n, int part, int shift) {
    __shared__ int count[DIGITS];
    int lane = threadIdx.x % 32, first = blockIdx.x * part, last = min(n, first + part), mine = 0;
    if (threadIdx.x < DIGITS) count[threadIdx.x] = 0;
    __syncthreads();
    for (int base = first; base < last; base += THREADS * 4) {
        int i = base + threadIdx.x;
        unsigned key[4];
#pragma unroll
        for (int k = 0; k < 4; k++) key[k] = i + THREADS * k < last ? in[i + THREADS * k] : 0;
#pragma unroll
        for (int k = 0; k < 4; k++) mine += __popc(group(digit_of(key[k], shift), i + THREADS * k < last).of_lane);
    }
    if (lane < DIGITS) atomicAdd(&count[lane], mine);
    __syncthreads();
    if (threadIdx.x < DIGITS) counts[threadIdx.x][blockIdx.x] += count[threadIdx.x];
}

// One block; a warp for each digit adds up over the blocks. What lies before a digit are all smaller ones.
__global__ void scan_counts(int blocks) {
    __shared__ int total[DIGITS];
    int digit = threadIdx.x / 32, lane = threadIdx.x % 32, sum = 0;
    for (int b = lane; b < blocks; b += 32) sum += counts[digit][b];
    sum = __reduce_add_sync(ALL, sum);
    if (lane == 0) total[digit] = sum;
    __syncthreads();
    int before = 0;
    for (int d = 0; d < digit; d++) before += total[d];
#pragma unroll 4
    for (int base = 0; base < blocks; base += 32) {
        int mine = base + lane < blocks ? counts[digit][base + lane] : 0, up_to = mine;
#pragma unroll
        for (int distance = 1; distance < 32; distance *= 2) {
            int other = __shfl_up_sync(ALL, up_to, distance);
            if (lane >= distance) up_to += other;
        }
        if (base + lane < blocks) starts[digit][base + lane] = before + up_to - mine;
        before += __shfl_sync(ALL, up_to, 31);
    }
}

// For warp 0, after the warps have counted: found[w][d] becomes where in the tile the keys of warp w with digit d go, and
// offset[d] what leads from a place in the tile to one in `out`. Lane d has in `next` where its digit goes on there.
__device__ void place_digits(int (*found)[DIGITS], int *offset, int *next) {
    int lane = threadIdx.x % 32, all = 0;
    for (int w = 0; w < WARPS && lane < DIGITS; w++) all += found[w][lane];
    int up_to = all;
#pragma unroll
    for (int distance = 1; distance < DIGITS; distance *= 2) {
        int other = __shfl_up_sync(ALL, up_to, distance);
        if (lane >= distance) up_to += other;
    }
    if (lane >= DIGITS) return;
    int sum = up_to - all;
    offset[lane] = *next - sum;
    *next += all;
    for (int w = 0; w < WARPS; w++) {
        int some = found[w][lane];
        found[w][lane] = sum;
        sum += some;
    }
}

__global__ void move_keys(unsigned *__restrict__ out, const unsigned *__restrict__ in, int n, int part, int shift) {
    __shared__ int found[WARPS][DIGITS], offset[DIGITS];
    __shared__ unsigned sorted[TILE];
    int t = threadIdx.x, lane = t % 32, warp = t / 32, first = blockIdx.x * part, last = min(n, first + part);
    int next = t < DIGITS ? starts[t][blockIdx.x] : 0;
    for (int base = first; base < last; base += TILE) {
        unsigned key[KEYS];
        int rank[KEYS], seen = 0, i = base + warp * OF_WARP + lane; // seen: of lane d, keys of digit d in this warp so far
#pragma unroll
        for (int k = 0; k < KEYS; k++) key[k] = i + 32 * k < last ? in[i + 32 * k] : 0;
#pragma unroll
        for (int k = 0; k < KEYS; k++) {
            int digit = digit_of(key[k], shift);
            groups g = group(digit, i + 32 * k < last);
            rank[k] = __shfl_sync(ALL, seen, digit) + __popc(g.mine & ((1u << lane) - 1));
            seen += __popc(g.of_lane);
        }
        if (lane < DIGITS) found[warp][lane] = seen;
        __syncthreads();
        if (warp == 0) place_digits(found, offset, &next);
        __syncthreads();
#pragma unroll
        for (int k = 0; k < KEYS; k++)
            if (i + 32 * k < last) sorted[found[warp][digit_of(key[k], shift)] + rank[k]] = key[k];
        __syncthreads();
#pragma unroll
        for (int k = 0; k < KEYS; k++) {
            int place = THREADS * k + t;
            if (base + place >= last) break; // as many keys in `sorted` as in this tile
            unsigned mine = sorted[place];
            out[offset[digit_of(mine, shift)] + place] = mine;
        }
    }
}

extern "C" void radix_pass(unsigned *out, const unsigned *in, int n, int shift) {
    int part = (n / MOST_BLOCKS + TILE) / TILE * TILE; // keys of a block, whole tiles
    int blocks = (n + part - 1) / part;
    if (blocks == 0) return;
    count_digits<<<blocks, THREADS>>>(in, n, part, shift);
    scan_counts<<<1, 32 * DIGITS>>>(blocks);
    move_keys<<<blocks, THREADS>>>(out, in, n, part, shift);
}
