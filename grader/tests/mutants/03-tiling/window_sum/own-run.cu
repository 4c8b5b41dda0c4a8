// expect: PART
// Each thread slides along its own 32 elements: one load per element, but the warp's accesses are strided.

__global__ void window(int *__restrict__ out, const int *__restrict__ in, int n) {
    int i = (blockIdx.x * blockDim.x + threadIdx.x) * 32;
    if (i >= n) return;
    int left = i > 0 ? in[i - 1] : 0, here = in[i];
    for (int k = 0; k < 32 && i + k < n; k++) {
        int right = i + k + 1 < n ? in[i + k + 1] : 0;
        out[i + k] = left + here + right;
        left = here, here = right;
    }
}

extern "C" void window_sum(int *out, const int *in, int n) {
    if (n == 0) return;
    const int threads = 64;
    window<<<((n + 31) / 32 + threads - 1) / threads, threads>>>(out, in, n);
}
