// expect: PART read_amplification
// The naive version, whose loads and stores are atomics that change nothing, or exchange.
struct particle {
    float x, y, vx, vy, mass;
    float charge, radius, age, heat, spin, colour[3], id, group, flags;
};

__device__ float get(float *p) { return __uint_as_float(atomicOr((unsigned *)p, 0u)); }
__device__ void put(float *p, float v) { atomicExch(p, v); }

// As in the naive version: a step of the ladder, member by member.
__global__ void kick(particle *p, int n, float dt) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float x = (i > 0 ? get(&p[i - 1].x) : 0.0f) - 2.0f * get(&p[i].x) + (i + 1 < n ? get(&p[i + 1].x) : 0.0f);
    float y = (i > 0 ? get(&p[i - 1].y) : 0.0f) - 2.0f * get(&p[i].y) + (i + 1 < n ? get(&p[i + 1].y) : 0.0f);
    put(&p[i].vx, get(&p[i].vx) + dt / get(&p[i].mass) * x);
    put(&p[i].vy, get(&p[i].vy) + dt / get(&p[i].mass) * y);
}

__global__ void drift(particle *p, int n, float dt) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    put(&p[i].x, get(&p[i].x) + dt * get(&p[i].vx));
    put(&p[i].y, get(&p[i].y) + dt * get(&p[i].vy));
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
