// expect: PART
// Hillis and Steele in global memory: a launch a round, without barriers and shared memory.

__global__ void round_of(unsigned *to, const unsigned *from, int n, int distance) {
    int i = blockIdx.x * 256 + threadIdx.x;
    if (i < n) to[i] = i < distance ? from[i] : from[i] + from[i - distance];
}

extern "C" void inclusive_scan(unsigned *out, const unsigned *in, int n) {
    if (n == 0) return;
    unsigned *room[2] = {out, nullptr};
    int rounds = 1, at;
    while (1 << rounds < n) rounds++;
    cudaMalloc(&room[1], n * sizeof(unsigned));
    at = rounds % 2 ? 0 : 1; // the last round writes to out
    const unsigned *from = in;
    for (int k = 0; k < rounds; k++, at ^= 1) {
        round_of<<<(n + 255) / 256, 256>>>(room[at], from, n, 1 << k);
        from = room[at];
    }
    cudaFree(room[1]);
}
