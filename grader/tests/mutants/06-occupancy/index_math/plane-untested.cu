// expect: RTE|WA
// The last block of a channel goes on behind its end.

constexpr int THREADS = 256;

__global__ void patches(float *__restrict__ out, const float *__restrict__ in, int height, int width, int k) {
    unsigned position = blockIdx.x * THREADS + threadIdx.x, plane = height * width;
    int line = position / width, top = line - k / 2, left = position - line * width - k / 2;
    in += static_cast<int>(blockIdx.y * plane) + top * width + left; // all of them signed: the sum may be less than 0
    out += blockIdx.y * plane * k * k + position;
    for (int y = 0; y < k; y++, in += width - k)
        for (int x = 0; x < k; x++, in++, out += plane) {
            // A coordinate less than 0 is, without a sign, more than any height or width.
            bool is_inside = static_cast<unsigned>(top + y) < height && static_cast<unsigned>(left + x) < width;
            *out = is_inside ? *in : 0;
        }
}

extern "C" void index_math(float *out, const float *in, int channels, int height, int width, int k) {
    unsigned plane = height * width;
    if (channels > 0 && plane > 0) patches<<<dim3((plane + THREADS - 1) / THREADS, channels), THREADS>>>(out, in, height, width, k);
}
