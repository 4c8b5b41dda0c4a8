// expect: PART
// No copies: each device reads all vectors where they lie, twice as many bytes as needed.

constexpr int DEVICES = 4, THREADS = 256;

// out = a + b + c + d
__global__ void add(float *out, const float *a, const float *b, const float *c, const float *d, int n) {
    int i = blockIdx.x * THREADS + threadIdx.x;
    if (i < n) out[i] = (a[i] + b[i]) + (c[i] + d[i]);
}

extern "C" void all_reduce(float *out0, float *out1, float *out2, float *out3, const float *in0, const float *in1, const float *in2,
                                const float *in3, int n) {
    float *out[] = {out0, out1, out2, out3};
    const float *in[] = {in0, in1, in2, in3};
    if (n == 0) return;
    for (int d = 0; d < DEVICES; d++) {
        cudaSetDevice(d);
        add<<<(n + THREADS - 1) / THREADS, THREADS>>>(out[d], in[0], in[1], in[2], in[3], n);
    }
}
