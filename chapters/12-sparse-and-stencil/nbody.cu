// nbody: what all bodies do to each. A body is x, y, z, mass; a result is three forces and a potential.

constexpr int THREADS = 64;
constexpr float SOFTENING = 1.0f / 64;

__global__ void attract(float *__restrict__ out, const float *__restrict__ bodies, int n) {
    int i = blockIdx.x * THREADS + threadIdx.x;
    if (i >= n) return;
    float x = bodies[4 * i], y = bodies[4 * i + 1], z = bodies[4 * i + 2];
    float fx = 0.0f, fy = 0.0f, fz = 0.0f, potential = 0.0f;
    // TODO: 64 threads of a block read the same bodies, each for itself, and a pair takes two divisions and a root.
    for (int j = 0; j < n; j++) {
        float dx = bodies[4 * j] - x, dy = bodies[4 * j + 1] - y, dz = bodies[4 * j + 2] - z;
        float square = dx * dx + dy * dy + dz * dz + SOFTENING;
        float part = bodies[4 * j + 3] / sqrtf(square), force = part / square;
        fx += force * dx, fy += force * dy, fz += force * dz, potential += part;
    }
    out[4 * i] = fx, out[4 * i + 1] = fy, out[4 * i + 2] = fz, out[4 * i + 3] = potential;
}

extern "C" void nbody(float *out, const float *bodies, int n) {
    if (n > 0) attract<<<(n + THREADS - 1) / THREADS, THREADS>>>(out, bodies, n);
}
