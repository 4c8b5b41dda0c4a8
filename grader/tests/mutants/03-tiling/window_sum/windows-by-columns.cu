// expect: PART device_write_sectors
// Loaded once and together; but neighbouring lanes own windows that are 32 apart.

constexpr int T = 256;
__global__ void w(int *out, const int *in, int n) {
    __shared__ int s[1024 + 2];
    int t = threadIdx.x, first = blockIdx.x * 1024;
    for (int e = t; e < 1026; e += T) {
        int i = first + e - 1;
        s[e] = i >= 0 && i < n ? in[i] : 0;
    }
    __syncthreads();
    for (int k = 0; k < 4; k++) {
        int e = t % 32 * 32 + t / 32 * 4 + k;
        if (first + e < n) out[first + e] = s[e] + s[e + 1] + s[e + 2];
    }
}
extern "C" void window_sum(int *out, const int *in, int n) { if (n) w<<<(n + 1023) / 1024, T>>>(out, in, n); }
