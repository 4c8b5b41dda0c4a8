// expect: PART
// re and im once, but the rotation at each number: out_re could have changed it.

__global__ void rotate(float *out_re, float *out_im, const float *re, const float *im, const float *rotation,
                       int n) {
    int step = gridDim.x * blockDim.x;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step) {
        const float cosine = rotation[0], sine = rotation[1];
        const float x = re[i], y = im[i];
        out_re[i] = x * cosine - y * sine;
        out_im[i] = x * sine + y * cosine;
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
