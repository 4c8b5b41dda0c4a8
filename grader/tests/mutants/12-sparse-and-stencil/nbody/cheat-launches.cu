// expect: PART
// A launch for each 64 bodies: each reads few, and all of them together as many, and results again.

constexpr int THREADS = 64;
constexpr float SOFTENING = 1.0f / 64;

__global__ void attract(float *out, const float *bodies, int n, int first) {
    int i = blockIdx.x * THREADS + threadIdx.x;
    if (i >= n) return;
    float x = bodies[4 * i], y = bodies[4 * i + 1], z = bodies[4 * i + 2];
    float fx = 0.0f, fy = 0.0f, fz = 0.0f, potential = 0.0f;
    for (int j = first; j < min(n, first + 64); j++) {
        float dx = bodies[4 * j] - x, dy = bodies[4 * j + 1] - y, dz = bodies[4 * j + 2] - z;
        float square = dx * dx + dy * dy + dz * dz + SOFTENING;
        float part = bodies[4 * j + 3] / sqrtf(square), force = part / square;
        fx += force * dx, fy += force * dy, fz += force * dz, potential += part;
    }
    if (first > 0) fx += out[4 * i], fy += out[4 * i + 1], fz += out[4 * i + 2], potential += out[4 * i + 3];
    out[4 * i] = fx, out[4 * i + 1] = fy, out[4 * i + 2] = fz, out[4 * i + 3] = potential;
}

extern "C" void nbody(float *out, const float *bodies, int n) {
    for (int first = 0; first < n; first += 64) attract<<<(n + THREADS - 1) / THREADS, THREADS>>>(out, bodies, n, first);
}
