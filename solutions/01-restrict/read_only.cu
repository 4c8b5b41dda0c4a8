// read_only: the model solution. The parameter list promises that no store changes a loaded value:
// re and im are loaded once per number, the rotation once per thread, all through the read-only path.

__global__ void rotate(float *__restrict__ out_re, float *__restrict__ out_im, const float *__restrict__ re,
                       const float *__restrict__ im, const float *__restrict__ rotation, int n) {
    int step = gridDim.x * blockDim.x;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step) {
        out_re[i] = re[i] * rotation[0] - im[i] * rotation[1];
        out_im[i] = re[i] * rotation[1] + im[i] * rotation[0];
    }
}

extern "C" void read_only(float *out_re, float *out_im, const float *re, const float *im,
                          const float *rotation, int n) {
    if (n == 0) return;
    const int threads = 256;
    const int most_blocks = 1024;
    int blocks = min((n + threads - 1) / threads, most_blocks);
    rotate<<<blocks, threads>>>(out_re, out_im, re, im, rotation, n);
}
