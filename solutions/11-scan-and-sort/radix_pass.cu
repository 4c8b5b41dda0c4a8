// radix_pass: the model solution. As step 4, but the keys of the next tile are loaded while this one is sorted, and the first kernel reads
// its keys as vectors.

constexpr int THREADS = 256, WARPS = THREADS / 32, MAX_BLOCKS = 528; // 4 blocks for each of 132 SMs
constexpr int BITS = 4, DIGITS = 1 << BITS, KEYS = 8, OF_WARP = 32 * KEYS,
              TILE = THREADS * KEYS; // elements of a lane, a warp, a block
constexpr unsigned ALL = 0xffffffff;

// By digit and block: the number of the block's keys with that digit, and their first index in `out`.
__device__ int counts[DIGITS][MAX_BLOCKS], starts[DIGITS][MAX_BLOCKS];

__device__ int digit_of(unsigned key, int shift) { return key >> shift & (DIGITS - 1); }

__global__ void count_digits(const unsigned *__restrict__ in, int n, int part, int shift) {
    __shared__ int count[DIGITS];
    int first = blockIdx.x * part, last = min(n, first + part);
    if (threadIdx.x < DIGITS) count[threadIdx.x] = 0;
    __syncthreads();
    int i = first + 4 * threadIdx.x;
    for (; i + 4 * THREADS + 3 < last; i += 8 * THREADS) { // two vectors in flight
        uint4 v = *reinterpret_cast<const uint4 *>(in + i), w = *reinterpret_cast<const uint4 *>(in + i + 4 * THREADS);
        unsigned key[8] = {v.x, v.y, v.z, v.w, w.x, w.y, w.z, w.w};
#pragma unroll
        for (int k = 0; k < 8; k++) atomicAdd(&count[digit_of(key[k], shift)], 1);
    }
    for (; i < last; i += 4 * THREADS) // what is left, up to two vectors
        for (int k = i; k < min(i + 4, last); k++) atomicAdd(&count[digit_of(in[k], shift)], 1);
    __syncthreads();
    if (threadIdx.x < DIGITS) counts[threadIdx.x][blockIdx.x] = count[threadIdx.x];
}

// One block. One warp per digit scans the counts of all blocks. All smaller digits precede a digit.
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

// Called by warp 0 after all warps have counted. found[w][d] becomes the index in the tile of warp w's first key with digit d, and
// offset[d] the difference between an index in `out` and one in the tile. Lane d has in `next` the next free index of its digit in `out`.
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

// Returns a key's rank among the warp's keys with its digit. Lane d has in `counted` the number of such keys in earlier rounds. Each vote is
// about a bit: lanes with the same digit agree in all of them.
__device__ int rank_of(int digit, int &counted) {
    int lane = threadIdx.x % 32;
    unsigned has_lane = ALL, peers = ALL; // lanes whose digit is this lane's number; lanes with this lane's digit
#pragma unroll
    for (int bit = 0; bit < BITS; bit++) {
        unsigned votes = __ballot_sync(ALL, digit >> bit & 1);
        has_lane &= lane >> bit & 1 ? votes : ~votes;
        peers &= digit >> bit & 1 ? votes : ~votes;
    }
    int rank = __shfl_sync(ALL, counted, digit) + __popc(peers & ((1u << lane) - 1));
    counted += __popc(has_lane);
    return rank;
}

__global__ void __launch_bounds__(THREADS, MAX_BLOCKS / 132)
    move_keys(unsigned *__restrict__ out, const unsigned *__restrict__ in, int n, int part, int shift) {
    __shared__ int found[WARPS][DIGITS], offset[DIGITS];
    __shared__ unsigned sorted[TILE];
    int t = threadIdx.x, lane = t % 32, warp = t / 32, first = blockIdx.x * part, last = min(n, first + part);
    int next = t < DIGITS ? starts[t][blockIdx.x] : 0;
    unsigned coming[KEYS];
    auto load = [&](int base) {
        int i = base + warp * OF_WARP + lane;
#pragma unroll
        for (int k = 0; k < KEYS; k++) coming[k] = i + 32 * k < last ? in[i + 32 * k] : ALL; // no key: sorts after all keys
    };
    load(first);
    for (int base = first; base < last; base += TILE) {
        unsigned key[KEYS];
        int rank[KEYS], counted = 0;
#pragma unroll
        for (int k = 0; k < KEYS; k++) key[k] = coming[k];
        load(base + TILE); // the next tile's keys arrive while this one is sorted
#pragma unroll
        for (int k = 0; k < KEYS; k++) rank[k] = rank_of(digit_of(key[k], shift), counted);
        if (lane < DIGITS) found[warp][lane] = counted;
        __syncthreads();
        if (warp == 0) place_digits(found, offset, &next);
        __syncthreads();
#pragma unroll
        for (int k = 0; k < KEYS; k++) sorted[found[warp][digit_of(key[k], shift)] + rank[k]] = key[k];
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
    int part = (n / MAX_BLOCKS + TILE) / TILE * TILE; // keys of a block, a multiple of its tile
    int blocks = (n + part - 1) / part;
    if (blocks == 0) return;
    count_digits<<<blocks, THREADS>>>(in, n, part, shift);
    scan_counts<<<1, 32 * DIGITS>>>(blocks);
    move_keys<<<blocks, THREADS>>>(out, in, n, part, shift);
}
