// expect: WA
// The element itself has no part in the sum.

constexpr int REACH = 4, X = 32, Y = 16, STRETCH = 32; // planes of a block
__device__ constexpr float weights[REACH + 1] = {-8.5416667f, 1.6f, -0.2f, 0.025396825f, -0.0017857143f};

__global__ void __launch_bounds__(X * Y) star(float *__restrict__ out, const float *__restrict__ in, int depth, int height, int width) {
    __shared__ float tile[2][Y + 2 * REACH][X + 2 * REACH]; // two buffers, so that one barrier per plane is enough
    int tx = threadIdx.x, ty = threadIdx.y, x0 = blockIdx.x * X, y0 = blockIdx.y * Y, x = x0 + tx, y = y0 + ty;
    int first = blockIdx.z * STRETCH, last = min(first + STRETCH, depth);
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

        float sum = 0.0f;
#pragma unroll
        for (int k = 1; k <= REACH; k++)
            sum += weights[k] * (c[REACH - k] + c[REACH + k] + t[ty + REACH - k][tx + REACH] + t[ty + REACH + k][tx + REACH] +
                                 t[ty + REACH][tx + REACH - k] + t[ty + REACH][tx + REACH + k]);
        if (inside) out[z * plane + here] = sum;
    }
}

extern "C" void stencil_planes(float *out, const float *in, int depth, int height, int width) {
    dim3 blocks((width + X - 1) / X, (height + Y - 1) / Y, (depth + STRETCH - 1) / STRETCH), threads(X, Y);
    if (depth > 0) star<<<blocks, threads>>>(out, in, depth, height, width);
}
