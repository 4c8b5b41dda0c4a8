// expect: PART
// A tile for each thread alone: shared memory, and all bodies are loaded by all.

constexpr int THREADS = 64;
constexpr float SOFTENING = 1.0f / 64;

__global__ void attract(float *__restrict__ out, const float *__restrict__ bodies, int n) {
    int i = blockIdx.x * THREADS + threadIdx.x;
    if (i >= n) return;
    float x = bodies[4 * i], y = bodies[4 * i + 1], z = bodies[4 * i + 2];
    float fx = 0.0f, fy = 0.0f, fz = 0.0f, potential = 0.0f;
    __shared__ float own[4][THREADS];
    volatile float(*o)[THREADS] = own;
    int t = threadIdx.x;
    for (int j = 0; j < n; j++) {
        o[0][t] = bodies[4 * j], o[1][t] = bodies[4 * j + 1], o[2][t] = bodies[4 * j + 2], o[3][t] = bodies[4 * j + 3];
        float dx = o[0][t] - x, dy = o[1][t] - y, dz = o[2][t] - z;
        float square = dx * dx + dy * dy + dz * dz + SOFTENING;
        float part = o[3][t] / sqrtf(square), force = part / square;
        fx += force * dx, fy += force * dy, fz += force * dz, potential += part;
    }
    out[4 * i] = fx, out[4 * i + 1] = fy, out[4 * i + 2] = fz, out[4 * i + 3] = potential;
}

extern "C" void nbody(float *out, const float *bodies, int n) {
    if (n > 0) attract<<<(n + THREADS - 1) / THREADS, THREADS>>>(out, bodies, n);
}
