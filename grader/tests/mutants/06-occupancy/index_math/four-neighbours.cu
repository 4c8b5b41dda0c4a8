// expect: PART
// A division for four neighbours: 32 lanes store words that are 16 bytes apart.

constexpr int THREADS = 256, EACH = 4;

__global__ void patches(float *__restrict__ out, const float *__restrict__ in, int channels, int height, int width, int k) {
    unsigned i = (blockIdx.x * THREADS + threadIdx.x) * EACH, plane = height * width, kk = k * k, n = channels * kk * plane;
    if (i >= n) return;
    unsigned row = i / plane, position = i - row * plane;
    unsigned c = row / kk, patch = row - c * kk, y = patch / k, x = patch - y * k, line = position / width;
    int h = line + y - k / 2, w = position - line * width + x - k / 2;
    for (int e = 0; e < EACH && i + e < n; e++) {
        bool is_inside = h >= 0 && h < height && w >= 0 && w < width;
        out[i + e] = is_inside ? in[c * plane + h * width + w] : 0;
        if (++w == (int)(width + x - k / 2)) {
            w = x - k / 2;
            if (++h == (int)(height + y - k / 2)) {
                h = y - k / 2;
                if (++x == k) x = 0, y++;
                if (y == k) y = 0, c++;
                h = y - k / 2, w = x - k / 2;
            }
        }
    }
}

extern "C" void index_math(float *out, const float *in, int channels, int height, int width, int k) {
    unsigned n = channels * k * k * height * width;
    if (n > 0) patches<<<(n + THREADS * EACH - 1) / (THREADS * EACH), THREADS>>>(out, in, channels, height, width, k);
}
