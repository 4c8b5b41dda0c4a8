// expect: PART
// Shared memory, but each thread puts its own 25 elements there, and nobody shares them.

constexpr int REACH = 4;
__device__ constexpr float weights[REACH + 1] = {-8.5416667f, 1.6f, -0.2f, 0.025396825f, -0.0017857143f};

__global__ void star(float *__restrict__ out, const float *__restrict__ in, int depth, int height, int width) {
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y, z = blockIdx.z;
    if (x >= width || y >= height) return;
    size_t plane = (size_t)height * width, i = z * plane + (size_t)y * width + x;
    __shared__ float slot[6][256];
    int me = threadIdx.y * 32 + threadIdx.x;
    float sum = weights[0] * in[i];
#pragma unroll
    for (int k = 1; k <= REACH; k++) {
        volatile float(*s)[256] = slot;
        s[0][me] = x >= k ? in[i - k] : 0.0f, s[1][me] = x + k < width ? in[i + k] : 0.0f;
        s[2][me] = y >= k ? in[i - k * width] : 0.0f, s[3][me] = y + k < height ? in[i + k * width] : 0.0f;
        s[4][me] = z >= k ? in[i - k * plane] : 0.0f, s[5][me] = z + k < depth ? in[i + k * plane] : 0.0f;
        float six = s[0][me] + s[1][me] + s[2][me] + s[3][me] + s[4][me] + s[5][me];
        sum += weights[k] * six;
    }
    out[i] = sum;
}

extern "C" void stencil_planes(float *out, const float *in, int depth, int height, int width) {
    dim3 blocks((width + 31) / 32, (height + 7) / 8, depth), threads(32, 8);
    if (depth > 0) star<<<blocks, threads>>>(out, in, depth, height, width);
}
