// expect: PART
// A thread finds the ends of its segment and sums it alone: no atomics or shuffles, and uncoalesced loads.

__device__ int first_of(const int *segment, int n, int s) {
    int low = 0;
    while (low < n) {
        int middle = (low + n) / 2;
        if (segment[middle] < s) low = middle + 1;
        else n = middle;
    }
    return low;
}

__global__ void add(float *sums, const float *values, const int *segment, int n, int segments) {
    int s = blockIdx.x * blockDim.x + threadIdx.x;
    if (s >= segments) return;
    int end = first_of(segment, n, s + 1);
    float sum = 0.0f;
    for (int i = first_of(segment, n, s); i < end; i++) sum += values[i];
    sums[s] = sum;
}

extern "C" void segmented_sum(float *sums, const float *values, const int *segment, int n, int segments) {
    if (segments > 0) add<<<(segments + 255) / 256, 256>>>(sums, values, segment, n, segments);
}
