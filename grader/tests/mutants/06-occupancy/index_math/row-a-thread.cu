// expect: PART
// A thread writes a whole line of the matrix: few instructions, and 32 sectors for each store.

constexpr int THREADS = 64;

__global__ void patches(float *__restrict__ out, const float *__restrict__ in, int lines, int height, int width, int k) {
    int i = blockIdx.x * THREADS + threadIdx.x; // a line of the image in a row of the matrix
    if (i >= lines) return;
    int row = i / height, line = i - row * height, c = row / (k * k), y = row / k % k - k / 2, x = row % k - k / 2;
    bool is_inside = line + y >= 0 && line + y < height;
    in += (c * height + line + y) * width + x, out += i * width;
    for (int w = 0; w < width; w++) out[w] = is_inside && w + x >= 0 && w + x < width ? in[w] : 0;
}

extern "C" void index_math(float *out, const float *in, int channels, int height, int width, int k) {
    int lines = channels * k * k * height;
    if (lines > 0 && width > 0) patches<<<(lines + THREADS - 1) / THREADS, THREADS>>>(out, in, lines, height, width, k);
}
