// expect: PART device_write_accesses
// The fewest loads, but each result is stored twice.

__global__ void rotate(volatile float *out_re, volatile float *out_im, const float *re, const float *im, const float *rotation, int n) {
    float c = rotation[0], s = rotation[1];
    int step = gridDim.x * blockDim.x;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step) {
        float x = re[i], y = im[i];
        out_re[i] = x * c; out_im[i] = x * s;
        out_re[i] = x * c - y * s;
        out_im[i] = x * s + y * c;
    }
}
extern "C" void read_only(float *out_re, float *out_im, const float *re, const float *im, const float *rotation, int n) {
    if (n == 0) return;
    rotate<<<min((n + 255) / 256, 1024), 256>>>(out_re, out_im, re, im, rotation, n);
}
