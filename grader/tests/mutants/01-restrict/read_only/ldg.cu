// expect: PART
// Eight read-only loads that stay where they are: what __ldg is under nvcc 13.0. (13.5 merges __ldg, but not these.)

__device__ float load(const float *p) {
    float v;
    asm volatile("ld.global.nc.f32 %0, [%1];" : "=f"(v) : "l"(p));
    return v;
}

__global__ void rotate(float *out_re, float *out_im, const float *re, const float *im, const float *rotation,
                       int n) {
    int step = gridDim.x * blockDim.x;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step) {
        out_re[i] = load(&re[i]) * load(&rotation[0]) - load(&im[i]) * load(&rotation[1]);
        out_im[i] = load(&re[i]) * load(&rotation[1]) + load(&im[i]) * load(&rotation[0]);
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
