// expect: PART
// Each device sends its whole vector to all others, and all add up everything.

constexpr int DEVICES = 4, THREADS = 256;

// out = a + b; any two of them may be the same.
__global__ void add(float *out, const float *a, const float *b, int n) {
    int i = blockIdx.x * THREADS + threadIdx.x;
    if (i < n) out[i] = a[i] + b[i];
}

extern "C" void all_reduce(float *out0, float *out1, float *out2, float *out3, const float *in0, const float *in1, const float *in2,
                                const float *in3, int n) {
    float *out[] = {out0, out1, out2, out3};
    const float *in[] = {in0, in1, in2, in3};
    if (n == 0) return;
    float *received[DEVICES];
    for (int d = 0; d < DEVICES; d++) {
        cudaSetDevice(d);
        cudaMalloc(&received[d], n * sizeof(float));
        cudaMemcpyAsync(out[d], in[d], n * sizeof(float), cudaMemcpyDeviceToDevice);
        for (int step = 1; step < DEVICES; step++) {
            int from = (d + step) % DEVICES;
            cudaMemcpyPeer(received[d], d, in[from], from, n * sizeof(float));
            add<<<(n + THREADS - 1) / THREADS, THREADS>>>(out[d], out[d], received[d], n);
        }
    }
    for (float *r : received) cudaFree(r);
}
