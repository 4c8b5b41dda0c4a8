// expect: WA
// Without the softening, a body divides by 0 for itself.

constexpr int THREADS = 128, EACH = 2, OTHERS = 512;
constexpr float SOFTENING = 1.0f / 64;

// What `b` does to the body at `me` is added to `sum`.
__device__ void add(float4 &sum, float4 me, float4 b) {
    float dx = b.x - me.x, dy = b.y - me.y, dz = b.z - me.z;
    float r = rsqrtf(dx * dx + dy * dy + dz * dz), part = b.w * r, force = part * (r * r);
    sum.x += force * dx, sum.y += force * dy, sum.z += force * dz, sum.w += part;
}

__global__ void attract(float *__restrict__ out, const float4 *__restrict__ bodies, int n) {
    __shared__ float4 tile[OTHERS];
    int first = blockIdx.x * THREADS * EACH + threadIdx.x;
    float4 me[EACH], sum[EACH] = {};
    for (int j = threadIdx.x; j < OTHERS; j += THREADS)
        tile[j] = blockIdx.y * OTHERS + j < n ? bodies[blockIdx.y * OTHERS + j] : float4{}; // a mass of 0 does nothing
#pragma unroll
    for (int k = 0; k < EACH; k++) me[k] = first + k * THREADS < n ? bodies[first + k * THREADS] : float4{};
    __syncthreads();
#pragma unroll 4
    for (int j = 0; j < OTHERS; j++) {
        float4 b = tile[j];
#pragma unroll
        for (int k = 0; k < EACH; k++) add(sum[k], me[k], b);
    }
#pragma unroll
    for (int k = 0; k < EACH; k++) {
        int i = first + k * THREADS;
        if (i >= n) break;
        atomicAdd(&out[4 * i], sum[k].x), atomicAdd(&out[4 * i + 1], sum[k].y);
        atomicAdd(&out[4 * i + 2], sum[k].z), atomicAdd(&out[4 * i + 3], sum[k].w);
    }
}

extern "C" void nbody(float *out, const float *bodies, int n) {
    if (n == 0) return;
    dim3 blocks((n + THREADS * EACH - 1) / (THREADS * EACH), (n + OTHERS - 1) / OTHERS);
    cudaMemsetAsync(out, 0, 4 * n * sizeof(float));
    attract<<<blocks, THREADS>>>(out, reinterpret_cast<const float4 *>(bodies), n);
}
