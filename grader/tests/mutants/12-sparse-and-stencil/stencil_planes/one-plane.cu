// expect: RTE race
// Room for one plane, and one barrier: a fast warp writes the next plane before all have read.

constexpr int REACH = 4, X = 16, Y = 16; // groups of four elements, and rows, of a block
constexpr int RIM = 2 * REACH * X + 2 * Y;       // groups in a plane's halo: fewer than threads
constexpr int LEAST = 32, BLOCKS = 3 * 132;      // planes of a block; blocks that run at the same time on an H100 or H200
__device__ constexpr float weights[REACH + 1] = {-8.5416667f, 1.6f, -0.2f, 0.025396825f, -0.0017857143f};

// sum += weight * (a + b)
__device__ void add(float4 &sum, float weight, float4 a, float4 b) {
    sum.x += weight * (a.x + b.x), sum.y += weight * (a.y + b.y), sum.z += weight * (a.z + b.z), sum.w += weight * (a.w + b.w);
}

// Adds the neighbours along the row: up to four of them lie in the groups to the left and right.
__device__ void add_row(float4 &sum, float4 left, float4 m, float4 right) {
    float v[12] = {left.x, left.y, left.z, left.w, m.x, m.y, m.z, m.w, right.x, right.y, right.z, right.w};
#pragma unroll
    for (int k = 1; k <= REACH; k++) {
        sum.x += weights[k] * (v[4 - k] + v[4 + k]), sum.y += weights[k] * (v[5 - k] + v[5 + k]);
        sum.z += weights[k] * (v[6 - k] + v[6 + k]), sum.w += weights[k] * (v[7 - k] + v[7 + k]);
    }
}

// `width` is in groups of four.
__global__ void __launch_bounds__(X * Y) star(float4 *__restrict__ out, const float4 *__restrict__ in, int depth, int height, int width,
                                              int stretch) {
    __shared__ float4 tile[2][Y + 2 * REACH][X + 2]; // two buffers, so that one barrier per plane is enough
    int tx = threadIdx.x, ty = threadIdx.y, x = blockIdx.x * X + tx, y = blockIdx.y * Y + ty, me = ty * X + tx;
    int begin = blockIdx.z * stretch, planes = min(stretch, depth - begin);
    int step = blockIdx.z % 2 ? -1 : 1, first = step > 0 ? begin : begin + planes - 1;
    size_t plane = (size_t)height * width, here = (size_t)y * width + x;
    bool inside = x < width && y < height;

    // Computes the group of the halo that this thread loads, if any: rows above and below first, then both sides.
    int side = me - 2 * REACH * X, row = me / X, rx = side < 0 ? tx + 1 : side % 2 * (X + 1);
    int ry = side >= 0 ? REACH + side / 2 : row < REACH ? row : row + Y;
    int gx = blockIdx.x * X + rx - 1, gy = blockIdx.y * Y + ry - REACH;
    bool there = me < RIM && gx >= 0 && gx < width && gy >= 0 && gy < height;
    size_t rim = (size_t)gy * width + gx;

    const float4 zero = {0.0f, 0.0f, 0.0f, 0.0f};
    auto column = [&](int p) { // the element p planes ahead
        int z = first + p * step;
        return inside && z >= 0 && z < depth ? in[z * plane + here] : zero;
    };
    float4 c[2 * REACH + 1]; // the column: four planes behind, the current one, four ahead
#pragma unroll
    for (int k = 1; k <= 2 * REACH; k++) c[k] = column(k - REACH - 1);
    float4 next = column(REACH), halo = there ? in[first * plane + rim] : zero;

    for (int p = 0; p < planes; p++) {
        int z = first + p * step;
#pragma unroll
        for (int k = 0; k < 2 * REACH; k++) c[k] = c[k + 1];
        c[2 * REACH] = next;
        float4(*t)[X + 2] = tile[0];
        t[ty + REACH][tx + 1] = c[REACH];
        if (me < RIM) t[ry][rx] = halo;
        if (p + 1 < planes) next = column(p + 1 + REACH), halo = there ? in[(z + step) * plane + rim] : zero;
        __syncthreads();

        float4 m = c[REACH], sum = {weights[0] * m.x, weights[0] * m.y, weights[0] * m.z, weights[0] * m.w};
#pragma unroll
        for (int k = 1; k <= REACH; k++) {
            add(sum, weights[k], c[REACH - k], c[REACH + k]);
            add(sum, weights[k], t[ty + REACH - k][tx + 1], t[ty + REACH + k][tx + 1]);
        }
        add_row(sum, t[ty + REACH][tx], m, t[ty + REACH][tx + 2]);
        if (inside) __stcs(&out[z * plane + here], sum); // this kernel doesn't read it again, so L2 can keep `in`
    }
}

extern "C" void stencil_planes(float *out, const float *in, int depth, int height, int width) {
    if (depth == 0) return;
    int across = (width / 4 + X - 1) / X, down = (height + Y - 1) / Y, stretches = max(1, BLOCKS / (across * down));
    int stretch = max(LEAST, (depth + stretches - 1) / stretches); // while there are enough blocks: each one loads eight extra planes
    dim3 blocks(across, down, (depth + stretch - 1) / stretch), threads(X, Y);
    star<<<blocks, threads>>>(reinterpret_cast<float4 *>(out), reinterpret_cast<const float4 *>(in), depth, height, width / 4, stretch);
}
