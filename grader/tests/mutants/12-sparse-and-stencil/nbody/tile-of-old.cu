// expect: WA
// Places of a tile that has no body keep the one before.

constexpr int THREADS = 64;
constexpr float SOFTENING = 1.0f / 64;

// Adds the attraction of `b` on the body at `me` to `sum`.
__device__ void add(float4 &sum, float4 me, float4 b) {
    float dx = b.x - me.x, dy = b.y - me.y, dz = b.z - me.z, square = dx * dx + dy * dy + dz * dz + SOFTENING;
    float part = b.w / sqrtf(square), force = part / square;
    sum.x += force * dx, sum.y += force * dy, sum.z += force * dz, sum.w += part;
}

__global__ void attract(float4 *__restrict__ out, const float4 *__restrict__ bodies, int n) {
    __shared__ float4 tile[THREADS];
    tile[threadIdx.x] = {0.0f, 0.0f, 0.0f, 1.0f};
    int i = blockIdx.x * THREADS + threadIdx.x;
    float4 me = i < n ? bodies[i] : float4{}, sum = {};
    for (int first = 0; first < n; first += THREADS) {
        int j = first + threadIdx.x;
        __syncthreads();
        if (j < n) tile[threadIdx.x] = bodies[j]; // a mass of 0 attracts nothing
        __syncthreads();
        for (int k = 0; k < THREADS; k++) add(sum, me, tile[k]);
    }
    if (i < n) out[i] = sum;
}

extern "C" void nbody(float *out, const float *bodies, int n) {
    if (n > 0) attract<<<(n + THREADS - 1) / THREADS, THREADS>>>(reinterpret_cast<float4 *>(out), reinterpret_cast<const float4 *>(bodies), n);
}
