// expect: PART
// Positions are arrays, velocities and mass still structures.

constexpr int THREADS = 256;

struct particle {
    float x, y, vx, vy, mass, others[11];
};

__global__ void split(float *__restrict__ x, float *__restrict__ y, const particle *__restrict__ p, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    x[i] = p[i].x;
    y[i] = p[i].y;
}

__global__ void merge(particle *__restrict__ p, const float *__restrict__ x, const float *__restrict__ y,
                      int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    p[i].x = x[i];
    p[i].y = y[i];
}

__device__ float pull(const float *x, int i, int n) {
    return (i > 0 ? x[i - 1] : 0.0f) - 2.0f * x[i] + (i + 1 < n ? x[i + 1] : 0.0f);
}

__global__ void kick(particle *__restrict__ p, const float *__restrict__ x, const float *__restrict__ y,
                     int n, float dt) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float push = dt / p[i].mass;
    p[i].vx += push * pull(x, i, n);
    p[i].vy += push * pull(y, i, n);
}

__global__ void drift(float *__restrict__ x, float *__restrict__ y, const particle *__restrict__ p, int n,
                      float dt) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    x[i] += dt * p[i].vx;
    y[i] += dt * p[i].vy;
}

extern "C" void particles(float *state, int n, int steps, float dt) {
    if (n == 0) return;
    const int blocks = (n + THREADS - 1) / THREADS;
    particle *p = (particle *)state;
    float *x;
    if (cudaMalloc(&x, 2 * sizeof(float) * n) != cudaSuccess) return;
    float *y = x + n;
    split<<<blocks, THREADS>>>(x, y, p, n);
    for (int s = 0; s < steps; s++) {
        kick<<<blocks, THREADS>>>(p, x, y, n, dt);
        drift<<<blocks, THREADS>>>(x, y, p, n, dt);
    }
    merge<<<blocks, THREADS>>>(p, x, y, n);
    cudaFree(x);
}
