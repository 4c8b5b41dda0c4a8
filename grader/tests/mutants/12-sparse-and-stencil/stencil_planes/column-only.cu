// expect: PART
// The column is in registers, and the 16 neighbours in the plane come from memory.

constexpr int REACH = 4;
__device__ constexpr float weights[REACH + 1] = {-8.5416667f, 1.6f, -0.2f, 0.025396825f, -0.0017857143f};

__global__ void star(float *__restrict__ out, const float *__restrict__ in, int depth, int height, int width) {
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y, first = blockIdx.z * 32, last = min(first + 32, depth);
    if (x >= width || y >= height) return;
    size_t plane = (size_t)height * width, here = (size_t)y * width + x;
    float c[2 * REACH + 1];
#pragma unroll
    for (int k = 1; k <= 2 * REACH; k++) c[k] = first + k > REACH && first + k - REACH - 1 < depth ? in[(first + k - REACH - 1) * plane + here] : 0.0f;
    for (int z = first; z < last; z++) {
#pragma unroll
    for (int k = 0; k < 2 * REACH; k++) c[k] = c[k + 1];
    c[2 * REACH] = z + REACH < depth ? in[(z + REACH) * plane + here] : 0.0f;
    size_t i = z * plane + here;
    float sum = weights[0] * c[REACH];
#pragma unroll
    for (int k = 1; k <= REACH; k++) {
        float six = c[REACH - k] + c[REACH + k];
        if (x >= k) six += in[i - k];
        if (x + k < width) six += in[i + k];
        if (y >= k) six += in[i - k * width];
        if (y + k < height) six += in[i + k * width];
        sum += weights[k] * six;
    }
    out[i] = sum;
    }
}

extern "C" void stencil_planes(float *out, const float *in, int depth, int height, int width) {
    dim3 blocks((width + 31) / 32, (height + 7) / 8, (depth + 31) / 32), threads(32, 8);
    if (depth > 0) star<<<blocks, threads>>>(out, in, depth, height, width);
}
