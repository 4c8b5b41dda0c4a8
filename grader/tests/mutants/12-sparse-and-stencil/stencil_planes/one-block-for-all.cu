// expect: PART
// A single stretch along z and tiles one after another: one of 132 SMs at work.

constexpr int REACH = 4, X = 32, Y = 16, STRETCH = 32; // planes of a block
__device__ constexpr float weights[REACH + 1] = {-8.5416667f, 1.6f, -0.2f, 0.025396825f, -0.0017857143f};

__device__ void walk(float *space, int x0, int y0, float *__restrict__ out, const float *__restrict__ in, int depth, int height, int width) {
    auto tile = reinterpret_cast<float(*)[Y + 2 * REACH][X + 2 * REACH]>(space);
    int tx = threadIdx.x, ty = threadIdx.y, x = x0 + tx, y = y0 + ty;
    int first = 0, last = depth;
    size_t plane = (size_t)height * width, here = (size_t)y * width + x;
    bool inside = x < width && y < height;
    auto column = [&](int z) { return inside && z >= 0 && z < depth ? in[z * plane + here] : 0.0f; };
    float c[2 * REACH + 1]; // elements of planes z - 4 to z + 4
#pragma unroll
    for (int k = 1; k <= 2 * REACH; k++) c[k] = column(first + k - REACH - 1);

    for (int z = first; z < last; z++) {
#pragma unroll
        for (int k = 0; k < 2 * REACH; k++) c[k] = c[k + 1];
        c[2 * REACH] = column(z + REACH);
        float(*t)[X + 2 * REACH] = tile[z & 1];
        auto copy = [&](int cy, int cx) { // places in `t`
            int gy = y0 + cy - REACH, gx = x0 + cx - REACH;
            bool there = gy >= 0 && gy < height && gx >= 0 && gx < width;
            t[cy][cx] = there ? in[z * plane + (size_t)gy * width + gx] : 0.0f;
        };
        t[ty + REACH][tx + REACH] = c[REACH];
        if (ty < REACH) copy(ty, tx + REACH), copy(ty + REACH + Y, tx + REACH);
        if (ty >= Y - REACH) { // four warps: four rows of eight each
            int i = (ty - (Y - REACH)) * X + tx, side = i % (2 * REACH);
            copy(REACH + i / (2 * REACH), side < REACH ? side : X + side);
        }
        __syncthreads();

        float sum = weights[0] * c[REACH];
#pragma unroll
        for (int k = 1; k <= REACH; k++)
            sum += weights[k] * (c[REACH - k] + c[REACH + k] + t[ty + REACH - k][tx + REACH] + t[ty + REACH + k][tx + REACH] +
                                 t[ty + REACH][tx + REACH - k] + t[ty + REACH][tx + REACH + k]);
        if (inside) out[z * plane + here] = sum;
    }
}

__global__ void __launch_bounds__(X * Y) star(float *out, const float *in, int depth, int height, int width) {
    __shared__ float space[2 * (Y + 2 * REACH) * (X + 2 * REACH)];
    for (int y0 = 0; y0 < height; y0 += Y)
        for (int x0 = 0; x0 < width; x0 += X, __syncthreads()) walk(space, x0, y0, out, in, depth, height, width);
}

extern "C" void stencil_planes(float *out, const float *in, int depth, int height, int width) {
    dim3 blocks(1), threads(X, Y);
    if (depth > 0) star<<<blocks, threads>>>(out, in, depth, height, width);
}
