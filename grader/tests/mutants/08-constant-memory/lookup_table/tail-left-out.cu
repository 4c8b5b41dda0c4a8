// expect: WA
// The elements behind the last group of four are left out.

constexpr int ENTRIES = 256, ROUNDS = 16, COPIES = 32, THREADS = 512;
constexpr int MAX_BLOCKS = 528; // 4 blocks for each of 132 SMs: the copies are made once for many elements

__constant__ unsigned key[ROUNDS]; // all lanes read the same one

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

__device__ void hash4(unsigned (&x)[4], const unsigned (*entry)[COPIES], int lane) {
#pragma unroll
    for (int k = 0; k < ROUNDS; k++)
#pragma unroll
        for (int j = 0; j < 4; j++) {
            x[j] ^= key[k];
            x[j] = entry[x[j] & 255][lane] ^ (x[j] >> 8);
        }
}

__global__ void __launch_bounds__(THREADS)
    hash(unsigned *__restrict__ out, const unsigned *__restrict__ in, const unsigned *__restrict__ table, int n) {
    __shared__ unsigned entry[ENTRIES][COPIES];
    fill(entry, table);
    int lane = threadIdx.x % 32, step = gridDim.x * THREADS;
    for (int i = 4 * (blockIdx.x * THREADS + threadIdx.x); i + 3 < n; i += 4 * step) {
        unsigned x[4] = {};
        if (i + 3 < n) {
            uint4 four = *reinterpret_cast<const uint4 *>(in + i);
            x[0] = four.x, x[1] = four.y, x[2] = four.z, x[3] = four.w;
        } else
            for (int j = 0; j < 3; j++)
                if (i + j < n) x[j] = in[i + j];
        hash4(x, entry, lane);
        if (i + 3 < n)
            *reinterpret_cast<uint4 *>(out + i) = make_uint4(x[0], x[1], x[2], x[3]);
        else
            for (int j = 0; j < 3; j++)
                if (i + j < n) out[i + j] = x[j];
    }
}

extern "C" void lookup_table(unsigned *out, const unsigned *in, const unsigned *table, const unsigned *keys, int n) {
    if (n == 0) return;
    cudaMemcpyToSymbolAsync(key, keys, ROUNDS * sizeof(unsigned), 0, cudaMemcpyDeviceToDevice);
    const int per_block = 4 * THREADS;
    hash<<<min((n + per_block - 1) / per_block, MAX_BLOCKS), THREADS>>>(out, in, table, n);
}
