// expect: PART
// 16 threads walk over packed digits, and keys leave by way of shared memory: few reads, few sectors, and as much waiting as before.

constexpr int THREADS = 256, DIGITS = 16, MAX_BLOCKS = 528; // 4 blocks for each of 132 SMs
constexpr unsigned ALL = 0xffffffff;

// By digit and block: the number of the block's keys with that digit, and their first index in `out`.
__device__ int counts[DIGITS][MAX_BLOCKS], starts[DIGITS][MAX_BLOCKS];

__device__ int digit_of(unsigned key, int shift) { return key >> shift & (DIGITS - 1); }

__global__ void count_digits(const unsigned *in, int n, int part, int shift) {
    __shared__ int count[DIGITS];
    if (threadIdx.x < DIGITS) count[threadIdx.x] = 0;
    __syncthreads();
    int last = min(n, (int)(blockIdx.x + 1) * part);
    for (int i = blockIdx.x * part + threadIdx.x; i < last; i += THREADS) atomicAdd(&count[digit_of(in[i], shift)], 1);
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
    for (int base = 0; base < blocks; base += 32) {
        int mine = base + lane < blocks ? counts[digit][base + lane] : 0, up_to = mine;
        for (int distance = 1; distance < 32; distance *= 2) {
            int other = __shfl_up_sync(ALL, up_to, distance);
            if (lane >= distance) up_to += other;
        }
        if (base + lane < blocks) starts[digit][base + lane] = before + up_to - mine;
        before += __shfl_sync(ALL, up_to, 31);
    }
}

__global__ void move_keys(unsigned *out, const unsigned *in, int n, int part, int shift) {
    __shared__ int place[THREADS], count[DIGITS], offset[DIGITS];
    __shared__ unsigned sorted[THREADS];
    __shared__ uint4 packed[THREADS / 16];
    unsigned char *digit = reinterpret_cast<unsigned char *>(packed);
    int t = threadIdx.x, first = blockIdx.x * part, last = min(n, first + part);
    int next = t < DIGITS ? starts[t][blockIdx.x] : 0;
    for (int base = first; base < last; base += THREADS) {
        int i = base + t;
        unsigned key = i < last ? in[i] : 0;
        digit[t] = i < last ? digit_of(key, shift) : DIGITS;
        if (t < DIGITS) count[t] = 0;
        __syncthreads();
        if (i < last) atomicAdd(&count[digit_of(key, shift)], 1);
        __syncthreads();
        if (t < DIGITS) {
            int local = 0;
            for (int d = 0; d < t; d++) local += count[d];
            offset[t] = next - local;
            next += count[t];
            for (int k = 0; k < THREADS; k += 16) {
                uint4 v = packed[k / 16];
                unsigned word[4] = {v.x, v.y, v.z, v.w};
#pragma unroll
                for (int j = 0; j < 16; j++)
                    if ((word[j / 4] >> 8 * (j % 4) & 255) == t) place[k + j] = local++;
            }
        }
        __syncthreads();
        if (i < last) sorted[place[t]] = key;
        __syncthreads();
        if (i < last) {
            unsigned mine = sorted[t];
            out[offset[digit_of(mine, shift)] + t] = mine;
        }
        __syncthreads();
    }
}

extern "C" void radix_pass(unsigned *out, const unsigned *in, int n, int shift) {
    int part = (n / MAX_BLOCKS + THREADS) / THREADS * THREADS; // keys of a block, a multiple of its round
    int blocks = (n + part - 1) / part;
    if (blocks == 0) return;
    count_digits<<<blocks, THREADS>>>(in, n, part, shift);
    scan_counts<<<1, 32 * DIGITS>>>(blocks);
    move_keys<<<blocks, THREADS>>>(out, in, n, part, shift);
}
