// index_math: im2col, the patches of an image as a matrix. Row (c, y, x) of out, of channels * k * k rows, is channel c of in,
// moved by y - k / 2 rows and x - k / 2 columns; outside of the image it is 0.

constexpr int THREADS = 256;

__global__ void patches(float *__restrict__ out, const float *__restrict__ in, int channels, int height, int width, int k) {
    long long i = (long long)blockIdx.x * THREADS + threadIdx.x, plane = (long long)height * width, kk = (long long)k * k;
    if (i >= channels * kk * plane) return;
    // TODO: how many divisions does this element take? Which of their results does the next element share?
    long long row = i / plane, position = i % plane;
    long long c = row / kk, y = row % kk / k, x = row % k;
    long long h = position / width + y - k / 2, w = position % width + x - k / 2;
    bool is_inside = h >= 0 && h < height && w >= 0 && w < width;
    out[i] = is_inside ? in[c * plane + h * width + w] : 0;
}

extern "C" void index_math(float *out, const float *in, int channels, int height, int width, int k) {
    long long n = (long long)channels * k * k * height * width;
    if (n > 0) patches<<<(n + THREADS - 1) / THREADS, THREADS>>>(out, in, channels, height, width, k);
}
