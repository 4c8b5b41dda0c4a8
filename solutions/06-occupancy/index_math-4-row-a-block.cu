// Step 4: blocks for each row of the matrix. A thread divides for its first position, and then steps: columns and lines that a
// stride has, and a carry from column to line.

constexpr int THREADS = 256, EACH = 16; // a thread has about 16 positions

__global__ void patches(float *__restrict__ out, const float *__restrict__ in, int height, int width, int k) {
    int plane = height * width, row = blockIdx.y, c = row / (k * k), y = row / k % k - k / 2, x = row % k - k / 2;
    int stride = gridDim.x * THREADS, step_h = stride / width, step_w = stride - step_h * width;
    int position = blockIdx.x * THREADS + threadIdx.x, h = position / width, w = position - h * width;
    h += y, w += x;
    in += c * plane + y * width + x, out += static_cast<size_t>(row) * plane;
    for (; position < plane; position += stride) {
        bool is_inside = h >= 0 && h < height && w >= 0 && w < width;
        out[position] = is_inside ? in[position] : 0;
        h += step_h, w += step_w;
        if (w - x >= width) w -= width, h++;
    }
}

extern "C" void index_math(float *out, const float *in, int channels, int height, int width, int k) {
    int plane = height * width;
    if (channels > 0 && plane > 0) patches<<<dim3((plane + THREADS * EACH - 1) / (THREADS * EACH), channels * k * k), THREADS>>>(out, in, height, width, k);
}
