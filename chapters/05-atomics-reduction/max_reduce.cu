// max_reduce: *out is the largest of n floats, minus infinity if there are none. No element is a NaN.

__global__ void start(float *out) {
    *out = -INFINITY;
}

// There is no atomicMax for floats. As integers, positive floats are ordered as they are, negative ones the
// other way round.
__device__ void atomic_max(float *out, float v) {
    int bits = __float_as_int(v); // tests the sign bit: -0.0f < 0 is false
    if (bits >= 0)
        atomicMax((int *)out, bits);
    else
        atomicMin((unsigned *)out, (unsigned)bits);
}

__global__ void reduce(float *out, const float *in, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    // TODO: one atomic for each element, all on one address
    if (i < n) atomic_max(out, in[i]);
}

extern "C" void max_reduce(float *out, const float *in, int n) {
    start<<<1, 1>>>(out);
    if (n == 0) return;
    const int threads = 256;
    reduce<<<(n + threads - 1) / threads, threads>>>(out, in, n);
}
