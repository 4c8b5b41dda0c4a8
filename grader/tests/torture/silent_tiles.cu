// Correct programs: tiled product, double buffering, transposition with padding and swizzle, a stencil with its halo.
// also: --schedule hostile
#include "../programs/check.h"

enum { N = 96, T = 32 };

__global__ void product(const float *a, const float *b, float *c) {
    __shared__ float s[T][T], u[T][T];
    int row = blockIdx.y * T + threadIdx.y, col = blockIdx.x * T + threadIdx.x;
    float sum = 0;
    for (int k = 0; k < N; k += T) {
        s[threadIdx.y][threadIdx.x] = a[row * N + k + threadIdx.x];
        u[threadIdx.y][threadIdx.x] = b[(k + threadIdx.y) * N + col];
        __syncthreads();
        for (int i = 0; i < T; i++) sum += s[threadIdx.y][i] * u[i][threadIdx.x];
        __syncthreads();
    }
    c[row * N + col] = sum;
}

__global__ void buffered(const float *a, const float *b, float *c) {
    __shared__ float s[2][T][T], u[2][T][T];
    int row = blockIdx.y * T + threadIdx.y, col = blockIdx.x * T + threadIdx.x, now = 0;
    float sum = 0;
    s[0][threadIdx.y][threadIdx.x] = a[row * N + threadIdx.x];
    u[0][threadIdx.y][threadIdx.x] = b[threadIdx.y * N + col];
    __syncthreads();
    for (int k = T; k <= N; k += T) {
        if (k < N) {
            s[1 - now][threadIdx.y][threadIdx.x] = a[row * N + k + threadIdx.x];
            u[1 - now][threadIdx.y][threadIdx.x] = b[(k + threadIdx.y) * N + col];
        }
        for (int i = 0; i < T; i++) sum += s[now][threadIdx.y][i] * u[now][i][threadIdx.x];
        __syncthreads(); // one barrier a tile is enough with two buffers
        now = 1 - now;
    }
    c[row * N + col] = sum;
}

__global__ void transpose(const float *a, float *c, int swizzled) {
    __shared__ float s[T * (T + 1)];
    int x = threadIdx.x, y = threadIdx.y;
    s[swizzled ? y * T + (x ^ y) : y * (T + 1) + x] = a[(blockIdx.y * T + y) * N + blockIdx.x * T + x];
    __syncthreads();
    c[(blockIdx.x * T + y) * N + blockIdx.y * T + x] = s[swizzled ? x * T + (x ^ y) : x * (T + 1) + y];
}

__global__ void stencil(const float *a, float *c, int n) {
    __shared__ float s[258];
    int i = blockIdx.x * 256 + threadIdx.x, t = threadIdx.x + 1;
    s[t] = i < n ? a[i] : 0;
    if (threadIdx.x == 0) s[0] = i ? a[i - 1] : 0;
    if (threadIdx.x == 255) s[257] = i + 1 < n ? a[i + 1] : 0;
    __syncthreads();
    if (i < n) c[i] = s[t - 1] + s[t] + s[t + 1];
}

static float a[N * N], b[N * N], c[N * N], d[N * N];

int main() {
    float *p, *q, *r;
    int bad = 0;
    for (int i = 0; i < N * N; i++) a[i] = (float)(i % 7), b[i] = (float)(i % 5) - 2;
    CHECK(cudaMalloc(&p, sizeof a));
    CHECK(cudaMalloc(&q, sizeof a));
    CHECK(cudaMalloc(&r, sizeof a));
    CHECK(cudaMemcpy(p, a, sizeof a, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(q, b, sizeof b, cudaMemcpyHostToDevice));
    product<<<dim3(N / T, N / T), dim3(T, T)>>>(p, q, r);
    CHECK(cudaMemcpy(c, r, sizeof c, cudaMemcpyDeviceToHost));
    buffered<<<dim3(N / T, N / T), dim3(T, T)>>>(p, q, r);
    CHECK(cudaMemcpy(d, r, sizeof d, cudaMemcpyDeviceToHost));
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            float sum = 0;
            for (int k = 0; k < N; k++) sum += a[i * N + k] * b[k * N + j];
            bad += c[i * N + j] != sum || d[i * N + j] != sum;
        }
    for (int swizzled = 0; swizzled < 2; swizzled++) {
        transpose<<<dim3(N / T, N / T), dim3(T, T)>>>(p, r, swizzled);
        CHECK(cudaMemcpy(c, r, sizeof c, cudaMemcpyDeviceToHost));
        for (int i = 0; i < N * N; i++) bad += c[i] != a[i % N * N + i / N];
    }
    stencil<<<(N * N + 255) / 256, 256>>>(p, r, N * N);
    CHECK(cudaMemcpy(c, r, sizeof c, cudaMemcpyDeviceToHost));
    for (int i = 1; i < N * N - 1; i++) bad += c[i] != a[i - 1] + a[i] + a[i + 1];
    printf("%d wrong\n", bad);
    return 0;
}
