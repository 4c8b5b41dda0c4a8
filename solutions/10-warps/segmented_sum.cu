// segmented_sum: the model solution. A vote tells where segments begin, and lanes add up to the end of their own by shuffles. A
// warp has four times 32 elements side by side; what is still open at the end of 32 is carried on.

constexpr int THREADS = 256, AHEAD = 4, STRETCH = 32 * AHEAD; // elements of a warp
constexpr unsigned ALL = 0xffffffff;

// Returns the sum of `v` from this lane to lane `last`, which is the same in all lanes of a segment.
__device__ float sum_up_to(float v, int lane, int last) {
#pragma unroll
    for (int d = 1; d < 32; d *= 2) {
        float other = __shfl_down_sync(ALL, v, d);
        if (lane + d <= last) v += other;
    }
    return v;
}

__global__ void add(float *__restrict__ sums, const float *__restrict__ values, const int *__restrict__ segment, int n) {
    int warp = (blockIdx.x * THREADS + threadIdx.x) / 32, lane = threadIdx.x % 32, mine[AHEAD];
    float v[AHEAD], carried = 0.0f; // of the last segment of the previous round
    int open = -1;
#pragma unroll
    for (int k = 0; k < AHEAD; k++) {
        int i = warp * STRETCH + k * 32 + lane;
        mine[k] = i < n ? segment[i] : -1; // lanes past the end form their own segment
        v[k] = i < n ? values[i] : 0.0f;
    }
#pragma unroll
    for (int k = 0; k < AHEAD; k++) {
        int before = __shfl_up_sync(ALL, mine[k], 1), first = __shfl_sync(ALL, mine[k], 0);
        unsigned heads = __ballot_sync(ALL, lane == 0 || mine[k] != before), later = heads & ~1u << lane;
        float sum = sum_up_to(v[k], lane, later ? __ffs(later) - 2 : 31);
        if (first != open && open >= 0 && lane == 0) atomicAdd(&sums[open], carried); // the segment ended with the round
        if (first == open && lane == 0) sum += carried;
        int tail = 31 - __clz(heads); // where the last segment begins, which may continue in the next round
        if (heads >> lane & 1 && lane != tail && mine[k] >= 0) atomicAdd(&sums[mine[k]], sum);
        open = __shfl_sync(ALL, mine[k], 31);
        carried = __shfl_sync(ALL, sum, tail);
    }
    if (open >= 0 && lane == 0) atomicAdd(&sums[open], carried);
}

extern "C" void segmented_sum(float *sums, const float *values, const int *segment, int n, int segments) {
    cudaMemsetAsync(sums, 0, segments * sizeof(float));
    int stretches = (n + STRETCH - 1) / STRETCH, warps = THREADS / 32;
    if (n > 0) add<<<(stretches + warps - 1) / warps, THREADS>>>(sums, values, segment, n);
}
