// expect: PART
// A table of keys in shared memory takes the crowd: an atomic a lane there in place of one in global memory.

constexpr int THREADS = 256, PER_BLOCK = 1024, SLOTS = 512;

__global__ void add(int *sums, const int *keys, const int *values, int n) {
    __shared__ int owner[SLOTS], part[SLOTS];
    for (int s = threadIdx.x; s < SLOTS; s += THREADS) owner[s] = -1, part[s] = 0;
    __syncthreads();
    for (int k = 0; k < PER_BLOCK; k += THREADS) {
        int i = blockIdx.x * PER_BLOCK + k + threadIdx.x;
        if (i >= n) break;
        int key = keys[i], slot = key * 40503u % SLOTS, found = -1;
        for (int tries = 0; tries < 8 && found != key; tries++, slot = (slot + 1) % SLOTS) {
            found = atomicCAS(&owner[slot], -1, key);
            if (found == -1) found = key;
            if (found == key) atomicAdd(&part[slot], values[i]);
        }
        if (found != key) atomicAdd(&sums[key], values[i]);
    }
    __syncthreads();
    for (int s = threadIdx.x; s < SLOTS; s += THREADS)
        if (owner[s] >= 0) atomicAdd(&sums[owner[s]], part[s]);
}

extern "C" void warp_aggregate(int *sums, const int *keys, const int *values, int n, int groups) {
    cudaMemsetAsync(sums, 0, groups * sizeof(int));
    if (n > 0) add<<<(n + PER_BLOCK - 1) / PER_BLOCK, THREADS>>>(sums, keys, values, n);
}
