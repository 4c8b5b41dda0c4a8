// expect: WA
// Warps take their output ranges from a counter as they arrive, so elements are complete but out of order.

__global__ void clear(int *count) {
    *count = 0;
}

__global__ void take(int *out, int *count, const int *in, int n) {
    int i = (gridDim.x - 1 - blockIdx.x) * blockDim.x + threadIdx.x, lane = threadIdx.x % 32, base = 0;
    bool keep = i < n && in[i] > 0;
    unsigned votes = __ballot_sync(0xffffffff, keep);
    if (lane == 0) base = atomicAdd(count, __popc(votes));
    base = __shfl_sync(0xffffffff, base, 0);
    if (keep) out[base + __popc(votes & ((1u << lane) - 1))] = in[i];
}

extern "C" void compact(int *out, int *count, const int *in, int n) {
    clear<<<1, 1>>>(count);
    if (n > 0) take<<<(n + 255) / 256, 256>>>(out, count, in, n);
}
