// expect: PART device_read_sectors
// Coalesced, by moving whole structures: 64 bytes where 20 are needed, four times a step.

constexpr int B = 128;
__global__ void kick(float *p, int n, float dt) {
    __shared__ float s[(B + 2) * 17];
    int first = blockIdx.x * B - 1;
    for (int e = threadIdx.x; e < (B + 2) * 16; e += B) {
        int q = first + e / 16;
        bool own = q > first && q < first + B + 1; s[e / 16 * 17 + e % 16] = q >= 0 && q < n && (own || e % 16 < 2) ? p[(size_t)q * 16 + e % 16] : 0;
    }
    __syncthreads();
    int i = blockIdx.x * B + threadIdx.x;
    float *m = s + (threadIdx.x + 1) * 17;
    float vx = 0, vy = 0;
    if (i < n) {
        vx = m[2] + dt / m[4] * (m[-17] - 2 * m[0] + m[17]);
        vy = m[3] + dt / m[4] * (m[-16] - 2 * m[1] + m[18]);
    }
    __syncthreads();
    if (i < n) m[2] = vx, m[3] = vy;
    __syncthreads();
    for (int e = threadIdx.x; e < B * 16; e += B) {
        int q = blockIdx.x * B + e / 16;
        if (q < n && (e % 16 == 2 || e % 16 == 3 || 1)) if (e % 16 != 0 && e % 16 != 1) p[(size_t)q * 16 + e % 16] = s[(e / 16 + 1) * 17 + e % 16];
    }
}
__global__ void drift(float *p, int n, float dt) {
    __shared__ float s[B * 17];
    for (int e = threadIdx.x; e < B * 16; e += B) { int q = blockIdx.x * B + e / 16; if (q < n) s[e / 16 * 17 + e % 16] = p[(size_t)q * 16 + e % 16]; }
    __syncthreads();
    float *m = s + threadIdx.x * 17;
    if (blockIdx.x * B + threadIdx.x < n) m[0] += dt * m[2], m[1] += dt * m[3];
    __syncthreads();
    for (int e = threadIdx.x; e < B * 16; e += B) { int q = blockIdx.x * B + e / 16; if (q < n) p[(size_t)q * 16 + e % 16] = s[e / 16 * 17 + e % 16]; }
}
extern "C" void particles(float *state, int n, int steps, float dt) {
    if (!n) return;
    for (int s = 0; s < steps; s++) { kick<<<(n + B - 1) / B, B>>>(state, n, dt); drift<<<(n + B - 1) / B, B>>>(state, n, dt); }
}
