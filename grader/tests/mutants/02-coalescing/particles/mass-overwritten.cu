// expect: WA
// Writes back more of the structures than it has read.

struct particle {  // 16 floats; state begins on a boundary of 16 bytes
    float4 motion; // x y vx vy
    float mass, others[11];
};

constexpr int THREADS = 256;

__global__ void split(float *__restrict__ x, float *__restrict__ y, float *__restrict__ vx,
                      float *__restrict__ vy, float *__restrict__ mass, const particle *__restrict__ p,
                      int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float4 m = p[i].motion;
    x[i] = m.x, y[i] = m.y, vx[i] = m.z, vy[i] = m.w;
    mass[i] = p[i].mass;
}

__global__ void merge(particle *__restrict__ p, const float *__restrict__ x, const float *__restrict__ y,
                      const float *__restrict__ vx, const float *__restrict__ vy, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) p[i].motion = make_float4(x[i], y[i], vx[i], vy[i]), p[i].mass = 0.0f;
}

__device__ float pull(const float *x, int i, int n) {
    return (i > 0 ? x[i - 1] : 0.0f) - 2.0f * x[i] + (i + 1 < n ? x[i + 1] : 0.0f);
}

__global__ void kick(float *__restrict__ vx, float *__restrict__ vy, const float *__restrict__ x,
                     const float *__restrict__ y, const float *__restrict__ mass, int n, float dt) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float push = dt / mass[i];
    vx[i] += push * pull(x, i, n);
    vy[i] += push * pull(y, i, n);
}

__global__ void drift(float *__restrict__ x, float *__restrict__ y, const float *__restrict__ vx,
                      const float *__restrict__ vy, int n, float dt) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    x[i] += dt * vx[i];
    y[i] += dt * vy[i];
}

extern "C" void particles(float *state, int n, int steps, float dt) {
    if (n == 0 || steps == 0) return;
    particle *p = reinterpret_cast<particle *>(state);
    const int blocks = (n + THREADS - 1) / THREADS;
    const int pitch = (n + 31) / 32 * 32; // so that each array starts on a boundary of 128 bytes
    float *x;
    if (cudaMalloc(&x, 5 * sizeof(float) * pitch) != cudaSuccess) return;
    float *y = x + pitch, *vx = y + pitch, *vy = vx + pitch, *mass = vy + pitch;

    split<<<blocks, THREADS>>>(x, y, vx, vy, mass, p, n);
    for (int s = 0; s < steps; s++) {
        kick<<<blocks, THREADS>>>(vx, vy, x, y, mass, n, dt);
        drift<<<blocks, THREADS>>>(x, y, vx, vy, n, dt);
    }
    merge<<<blocks, THREADS>>>(p, x, y, vx, vy, n);
    cudaFree(x);
}
