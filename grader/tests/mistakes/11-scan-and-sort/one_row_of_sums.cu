// A Hillis and Steele scan in one array: a thread writes what another one still reads.
// lesson: chapters/11-scan-and-sort/README.md, What a scan is
// expect: data race in shared memory
#include "../mistake.h"

#ifdef MISTAKE
constexpr int ROWS = 1;
#else
constexpr int ROWS = 2;
#endif
__global__ void scan(int *out, const int *in) {
    __shared__ int sum[ROWS][128];
    int t = threadIdx.x, from = 0;
    sum[0][t] = in[t];
    __syncthreads();
    for (int distance = 1; distance < 128; distance *= 2) {
        int to = (from + 1) % ROWS;
        sum[to][t] = sum[from][t] + (t < distance ? 0 : sum[from][t - distance]); // reported
        __syncthreads();
        from = to;
    }
    out[t] = sum[from][t];
}

int main() {
    int *in = counting(128), *out = zeros(128);
    scan<<<1, 128>>>(out, in);
    CHECK(cudaDeviceSynchronize());
    EXPECT(element(out, 127) == 127 * 64);
    return 0;
}
