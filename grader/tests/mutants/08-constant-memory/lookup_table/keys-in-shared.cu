// expect: PART
// The keys are in shared memory, too, and no longer in constant memory.

constexpr int ENTRIES = 256, ROUNDS = 16, COPIES = 32, THREADS = 512;
constexpr int MAX_BLOCKS = 528; // 4 blocks for each of 132 SMs: the copies are made once for many elements

// Makes a copy of the table for each lane: entry e of lane l is entry[e][l], in bank l. A warp loads 32 entries at once, and
// shuffles hand each of them to all lanes.
__device__ void fill(unsigned (*entry)[COPIES], const unsigned *table) {
    int lane = threadIdx.x % 32;
    for (int first = threadIdx.x - lane; first < ENTRIES; first += THREADS) {
        unsigned mine = table[first + lane];
#pragma unroll
        for (int e = 0; e < 32; e++) entry[first + e][lane] = __shfl_sync(0xffffffff, mine, e);
    }
    __syncthreads();
}

__global__ void __launch_bounds__(THREADS)
    hash(unsigned *__restrict__ out, const unsigned *__restrict__ in, const unsigned *__restrict__ table,
         const unsigned *__restrict__ keys, int n) {
    __shared__ unsigned entry[ENTRIES][COPIES];
    __shared__ unsigned key[ROUNDS];
    if (threadIdx.x < ROUNDS) key[threadIdx.x] = keys[threadIdx.x];
    fill(entry, table);
    int lane = threadIdx.x % 32, step = gridDim.x * THREADS;
    for (int i = blockIdx.x * THREADS + threadIdx.x; i < n; i += step) {
        unsigned x = in[i];
#pragma unroll
        for (int k = 0; k < ROUNDS; k++) {
            x ^= key[k];
            x = entry[x & 255][lane] ^ (x >> 8);
        }
        out[i] = x;
    }
}

extern "C" void lookup_table(unsigned *out, const unsigned *in, const unsigned *table, const unsigned *keys, int n) {
    if (n == 0) return;
    hash<<<min((n + THREADS - 1) / THREADS, MAX_BLOCKS), THREADS>>>(out, in, table, keys, n);
}
