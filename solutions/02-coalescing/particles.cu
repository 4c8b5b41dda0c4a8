// particles: the model solution. The members that move are taken out of the structures once, 16 bytes at a
// time; all steps work on arrays; what changed is put back once. Old and new positions lie in arrays of their own,
// so that velocities and positions can be done in one kernel: no neighbour reads what has moved already.

struct particle {  // 16 floats; state begins on a boundary of 16 bytes
    float4 motion; // x y vx vy
    float mass, others[11];
};

constexpr int THREADS = 256; // tune: THREADS 64 128 256 512

__global__ void split(float *__restrict__ x, float *__restrict__ v, float *__restrict__ mass, int pitch,
                      const particle *__restrict__ p, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float4 m = p[i].motion;
    x[i] = m.x, x[pitch + i] = m.y, v[i] = m.z, v[pitch + i] = m.w;
    mass[i] = p[i].mass;
}

__global__ void merge(particle *__restrict__ p, const float *__restrict__ x, const float *__restrict__ v, int pitch,
                      int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) p[i].motion = make_float4(x[i], x[pitch + i], v[i], v[pitch + i]);
}

__device__ float pull(const float *x, float here, int i, int n) {
    return (i > 0 ? x[i - 1] : 0.0f) - 2.0f * here + (i + 1 < n ? x[i + 1] : 0.0f);
}

__global__ void step(float *__restrict__ to, const float *__restrict__ x, float *__restrict__ v,
                     const float *__restrict__ mass, int pitch, int n, float dt) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float push = dt / mass[i], here = x[i], there = x[pitch + i];
    float vx = v[i] + push * pull(x, here, i, n);
    float vy = v[pitch + i] + push * pull(x + pitch, there, i, n);
    v[i] = vx, v[pitch + i] = vy;
    to[i] = here + dt * vx, to[pitch + i] = there + dt * vy;
}

extern "C" void particles(float *state, int n, int steps, float dt) {
    if (n == 0 || steps == 0) return;
    particle *p = reinterpret_cast<particle *>(state);
    const int blocks = (n + THREADS - 1) / THREADS;
    const int pitch = (n + 31) / 32 * 32; // so that each array starts on a boundary of 128 bytes
    float *v;
    if (cudaMalloc(&v, 7 * sizeof(float) * pitch) != cudaSuccess) return;
    float *mass = v + 2 * (size_t)pitch, *x[2] = {mass + pitch, mass + 3 * (size_t)pitch};

    split<<<blocks, THREADS>>>(x[0], v, mass, pitch, p, n);
    for (int s = 0; s < steps; s++) step<<<blocks, THREADS>>>(x[(s + 1) % 2], x[s % 2], v, mass, pitch, n, dt);
    merge<<<blocks, THREADS>>>(p, x[steps % 2], v, pitch, n);
    cudaFree(v);
}
