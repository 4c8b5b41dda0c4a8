// expect: PART
// Divisions by multipliers, for every element.

constexpr int THREADS = 256;

// n / d is the upper half of n * multiplier, plus n, shifted by `shift`: exact for each n below 2^31.
struct divisor {
    unsigned d, multiplier, shift;
};

divisor divisor_of(unsigned d) {
    unsigned shift = 0;
    while ((1u << shift) < d) shift++;
    return {d, static_cast<unsigned>(((1ull << 32) * ((1ull << shift) - d)) / d + 1), shift};
}

__device__ unsigned operator/(unsigned n, divisor d) { return (__umulhi(n, d.multiplier) + n) >> d.shift; }

__global__ void patches(float *__restrict__ out, const float *__restrict__ in, unsigned n, divisor plane, divisor kk, divisor k,
                        divisor width, int height) {
    unsigned i = blockIdx.x * THREADS + threadIdx.x;
    if (i >= n) return;
    unsigned row = i / plane, position = i - row * plane.d;
    unsigned c = row / kk, patch = row - c * kk.d, y = patch / k, x = patch - y * k.d, line = position / width;
    unsigned h = line + y - k.d / 2, w = position - line * width.d + x - k.d / 2; // less than 0 is more than any height or width
    out[i] = h < height && w < width.d ? in[c * plane.d + h * width.d + w] : 0;
}

extern "C" void index_math(float *out, const float *in, int channels, int height, int width, int k) {
    unsigned n = channels * k * k * height * width;
    if (n > 0)
        patches<<<(n + THREADS - 1) / THREADS, THREADS>>>(out, in, n, divisor_of(height * width), divisor_of(k * k), divisor_of(k),
                                                          divisor_of(width), height);
}
