// expect: WA
// Lane 0 is a head only if its predecessor's segment differs, but __shfl_up returns its own value.

constexpr int THREADS = 256;
constexpr unsigned ALL = 0xffffffff;

__global__ void add(float *__restrict__ sums, const float *__restrict__ values, const int *__restrict__ segment, int n) {
    int i = blockIdx.x * THREADS + threadIdx.x, lane = threadIdx.x % 32;
    int mine = i < n ? segment[i] : -1; // lanes past the end form their own segment
    float v = i < n ? values[i] : 0.0f;
    int before = __shfl_up_sync(ALL, mine, 1);
    bool begins = mine != before;
    unsigned later = __ballot_sync(ALL, begins) & ~1u << lane; // votes: where segments begin after this lane
    int last = later ? __ffs(later) - 2 : 31;                  // the last lane of this lane's segment
    for (int d = 1; d < 32; d *= 2) {
        float other = __shfl_down_sync(ALL, v, d);
        if (lane + d <= last) v += other;
    }
    if (begins && mine >= 0) atomicAdd(&sums[mine], v);
}

extern "C" void segmented_sum(float *sums, const float *values, const int *segment, int n, int segments) {
    cudaMemsetAsync(sums, 0, segments * sizeof(float));
    if (n > 0) add<<<(n + THREADS - 1) / THREADS, THREADS>>>(sums, values, segment, n);
}
