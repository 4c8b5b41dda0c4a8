// Step 1: work on the structures. Each member is 64 bytes from the next particle's: 32 sectors a request.

struct particle { // 16 floats, of which the motion needs the first five
    float x, y, vx, vy, mass;
    float charge, radius, age, heat, spin, colour[3], id, group, flags;
};

// The ends of the chain hang on walls at 0.
__global__ void kick(particle *p, int n, float dt) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float x = (i > 0 ? p[i - 1].x : 0.0f) - 2.0f * p[i].x + (i + 1 < n ? p[i + 1].x : 0.0f);
    float y = (i > 0 ? p[i - 1].y : 0.0f) - 2.0f * p[i].y + (i + 1 < n ? p[i + 1].y : 0.0f);
    p[i].vx += dt / p[i].mass * x;
    p[i].vy += dt / p[i].mass * y;
}

__global__ void drift(particle *p, int n, float dt) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    p[i].x += dt * p[i].vx;
    p[i].y += dt * p[i].vy;
}

extern "C" void particles(float *state, int n, int steps, float dt) {
    if (n == 0) return;
    const int threads = 256, blocks = (n + threads - 1) / threads;
    particle *p = (particle *)state;
    for (int s = 0; s < steps; s++) {
        kick<<<blocks, threads>>>(p, n, dt);
        drift<<<blocks, threads>>>(p, n, dt);
    }
}
