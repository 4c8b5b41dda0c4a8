// expect: WA
// The structures are written back whole, with an age that was never kept.

constexpr int THREADS = 256, FIELDS = 6, CHANGED = 4; // x y vx vy mass age: the first four change, age is not needed

__global__ void split(float *__restrict__ arrays, const float *__restrict__ state, int n, int pitch)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    for (int f = 0; f <= CHANGED; f++)
        arrays[(size_t)f * pitch + i] = state[(size_t)i * FIELDS + f];
}

__global__ void merge(float *__restrict__ state, const float *__restrict__ arrays, int n, int pitch)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    for (int f = 0; f < CHANGED; f++)
        state[(size_t)i * FIELDS + f] = arrays[(size_t)f * pitch + i];
    state[(size_t)i * FIELDS + 5] = 0.0f;
}

__device__ float pull(const float *x, int i, int n)
{
    return (i > 0 ? x[i - 1] : 0.0f) - 2.0f * x[i] + (i + 1 < n ? x[i + 1] : 0.0f);
}

__global__ void kick(float *__restrict__ vx, float *__restrict__ vy, const float *__restrict__ x, const float *__restrict__ y,
                     const float *__restrict__ mass, int n, float dt)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float push = dt / mass[i];
    vx[i] += push * pull(x, i, n);
    vy[i] += push * pull(y, i, n);
}

__global__ void drift(float *__restrict__ x, float *__restrict__ y, const float *__restrict__ vx, const float *__restrict__ vy,
                      int n, float dt)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    x[i] += dt * vx[i];
    y[i] += dt * vy[i];
}

extern "C" void particles(float *state, int n, int steps, float dt)
{
    if (n == 0 || steps == 0) return;
    const int blocks = (n + THREADS - 1) / THREADS;
    const int pitch = (n + 31) / 32 * 32; // so that each array starts on a boundary of 128 bytes
    float *arrays;
    if (cudaMalloc(&arrays, (CHANGED + 1) * sizeof(float) * pitch) != cudaSuccess) return;
    float *x = arrays, *y = x + pitch, *vx = y + pitch, *vy = vx + pitch, *mass = vy + pitch;

    split<<<blocks, THREADS>>>(arrays, state, n, pitch);
    for (int s = 0; s < steps; s++) {
        kick<<<blocks, THREADS>>>(vx, vy, x, y, mass, n, dt);
        drift<<<blocks, THREADS>>>(x, y, vx, vy, n, dt);
    }
    merge<<<blocks, THREADS>>>(state, arrays, n, pitch);
    cudaFree(arrays);
}
