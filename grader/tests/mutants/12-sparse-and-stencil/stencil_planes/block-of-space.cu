// expect: PART
// A halo on six sides is more than what it surrounds, and the column goes through shared memory, too.

constexpr int REACH = 4, X = 32, Y = 8, Z = 4;
__device__ constexpr float weights[REACH + 1] = {-8.5416667f, 1.6f, -0.2f, 0.025396825f, -0.0017857143f};

__global__ void star(float *__restrict__ out, const float *__restrict__ in, int depth, int height, int width) {
    __shared__ float space[Z + 2 * REACH][Y + 2 * REACH][X + 2 * REACH];
    int x0 = blockIdx.x * X, y0 = blockIdx.y * Y, z0 = blockIdx.z * Z;
    int tx = threadIdx.x, ty = threadIdx.y, tz = threadIdx.z, x = x0 + tx, y = y0 + ty, z = z0 + tz;
    size_t plane = (size_t)height * width;
    auto copy = [&](int cz, int cy, int cx) { // places in `space`
        int gz = z0 + cz - REACH, gy = y0 + cy - REACH, gx = x0 + cx - REACH;
        bool inside = gz >= 0 && gz < depth && gy >= 0 && gy < height && gx >= 0 && gx < width;
        space[cz][cy][cx] = inside ? in[gz * plane + (size_t)gy * width + gx] : 0.0f;
    };
    copy(tz + REACH, ty + REACH, tx + REACH);
    copy(tz, ty + REACH, tx + REACH), copy(tz + REACH + Z, ty + REACH, tx + REACH); // Z is as much as REACH
    if (ty < REACH) copy(tz + REACH, ty, tx + REACH);
    else copy(tz + REACH, ty + Y, tx + REACH);
    if (tx < REACH) copy(tz + REACH, ty + REACH, tx);
    else if (tx >= X - REACH) copy(tz + REACH, ty + REACH, tx + 2 * REACH);
    __syncthreads();

    if (x >= width || y >= height || z >= depth) return;
    float sum = weights[0] * space[tz + REACH][ty + REACH][tx + REACH];
#pragma unroll
    for (int k = 1; k <= REACH; k++)
        sum += weights[k] * (space[tz + REACH][ty + REACH][tx + REACH - k] + space[tz + REACH][ty + REACH][tx + REACH + k] +
                             space[tz + REACH][ty + REACH - k][tx + REACH] + space[tz + REACH][ty + REACH + k][tx + REACH] +
                             space[tz + REACH - k][ty + REACH][tx + REACH] + space[tz + REACH + k][ty + REACH][tx + REACH]);
    out[z * plane + (size_t)y * width + x] = sum;
}

extern "C" void stencil_planes(float *out, const float *in, int depth, int height, int width) {
    dim3 blocks((width + X - 1) / X, (height + Y - 1) / Y, (depth + Z - 1) / Z), threads(X, Y, Z);
    if (depth > 0) star<<<blocks, threads>>>(out, in, depth, height, width);
}
