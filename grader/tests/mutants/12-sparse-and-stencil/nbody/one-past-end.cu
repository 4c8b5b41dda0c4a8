// expect: RTE
// The last tile reads bodies behind the last one.

constexpr int THREADS = 128, OTHERS = 256;
constexpr float SOFTENING = 1.0f / 64; // keeps the operand of `rsqrt` normal: .ftz saves three instructions

// Adds the attraction of `b` on the body at `me` to `sum`.
__device__ void add(float4 &sum, float4 me, float4 b) {
    float dx = b.x - me.x, dy = b.y - me.y, dz = b.z - me.z, r;
    asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(SOFTENING + dx * dx + dy * dy + dz * dz));
    float part = b.w * r, force = part * (r * r);
    sum.x += force * dx, sum.y += force * dy, sum.z += force * dz, sum.w += part;
}

__global__ void attract(float *__restrict__ out, const float4 *__restrict__ bodies, int n) {
    __shared__ float4 tile[OTHERS];
    int i = blockIdx.x * THREADS + threadIdx.x;
    for (int j = threadIdx.x; j < OTHERS; j += THREADS)
        tile[j] = bodies[blockIdx.y * OTHERS + j]; // a mass of 0 attracts nothing
    __syncthreads();
    if (i >= n) return;
    float4 me = bodies[i], sum = {};
    for (int j = 0; j < OTHERS; j++) add(sum, me, tile[j]);
    atomicAdd(&out[4 * i], sum.x), atomicAdd(&out[4 * i + 1], sum.y);
    atomicAdd(&out[4 * i + 2], sum.z), atomicAdd(&out[4 * i + 3], sum.w);
}

extern "C" void nbody(float *out, const float *bodies, int n) {
    if (n == 0) return;
    dim3 blocks((n + THREADS - 1) / THREADS, (n + OTHERS - 1) / OTHERS);
    cudaMemsetAsync(out, 0, 4 * n * sizeof(float));
    attract<<<blocks, THREADS>>>(out, reinterpret_cast<const float4 *>(bodies), n);
}
