// expect: PART
// Three loads an output.

__global__ void window(int *__restrict__ out, const int *__restrict__ in, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int sum = in[i];
    if (i > 0) sum += in[i - 1];
    if (i + 1 < n) sum += in[i + 1];
    out[i] = sum;
}

extern "C" void window_sum(int *out, const int *in, int n) {
    if (n == 0) return;
    const int threads = 256;
    window<<<(n + threads - 1) / threads, threads>>>(out, in, n);
}
