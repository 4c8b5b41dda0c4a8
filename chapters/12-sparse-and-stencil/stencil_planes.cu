// stencil_planes: each element of `out` is a weighted sum of a star of 25 elements of `in`; what lies outside is 0.

constexpr int REACH = 4;
__device__ constexpr float weights[REACH + 1] = {-8.5416667f, 1.6f, -0.2f, 0.025396825f, -0.0017857143f};

__global__ void star(float *__restrict__ out, const float *__restrict__ in, int depth, int height, int width) {
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y, z = blockIdx.z;
    if (x >= width || y >= height) return;
    size_t plane = (size_t)height * width, i = z * plane + (size_t)y * width + x;
    // TODO: 25 loads for one result, and neighbouring threads load almost the same.
    float sum = weights[0] * in[i];
#pragma unroll
    for (int k = 1; k <= REACH; k++) {
        float six = 0.0f;
        if (x >= k) six += in[i - k];
        if (x + k < width) six += in[i + k];
        if (y >= k) six += in[i - k * width];
        if (y + k < height) six += in[i + k * width];
        if (z >= k) six += in[i - k * plane];
        if (z + k < depth) six += in[i + k * plane];
        sum += weights[k] * six;
    }
    out[i] = sum;
}

extern "C" void stencil_planes(float *out, const float *in, int depth, int height, int width) {
    dim3 blocks((width + 31) / 32, (height + 7) / 8, depth), threads(32, 8);
    if (depth > 0) star<<<blocks, threads>>>(out, in, depth, height, width);
}
