// What the questions of chapter 03 count.
constexpr int T = 16, BLOCK = 128, HALO = 3;

// C = A * B, square, a multiple of 16: a tile of A and one of B in shared memory.
extern "C" __global__ void product16(float *c, const float *a, const float *b, int n) {
    __shared__ float as[T][T], bs[T][T];
    int i = blockIdx.y * T + threadIdx.y, j = blockIdx.x * T + threadIdx.x;
    float sum = 0.0f;
    for (int l = 0; l < n; l += T) {
        as[threadIdx.y][threadIdx.x] = a[i * n + l + threadIdx.x];
        bs[threadIdx.y][threadIdx.x] = b[(l + threadIdx.y) * n + j];
        __syncthreads();
        for (int p = 0; p < T; p++) sum += as[threadIdx.y][p] * bs[p][threadIdx.x];
        __syncthreads();
    }
    c[i * n + j] = sum;
}

// A window of seven; `in` has three more elements at either side.
extern "C" __global__ void window7(float *out, const float *in) {
    __shared__ float tile[BLOCK + 2 * HALO];
    int first = blockIdx.x * BLOCK;
    for (int e = threadIdx.x; e < BLOCK + 2 * HALO; e += BLOCK) tile[e] = in[first + e];
    __syncthreads();
    float sum = 0.0f;
    for (int k = 0; k <= 2 * HALO; k++) sum += tile[threadIdx.x + k];
    out[first + threadIdx.x] = sum;
}

int main() {
    const int n = 64, bytes = n * n * sizeof(float);
    float *a, *b, *c;
    cudaMalloc(&a, bytes);
    cudaMalloc(&b, bytes);
    cudaMalloc(&c, bytes);
    cudaMemset(a, 0, bytes);
    cudaMemset(b, 0, bytes);
    product16<<<dim3(n / T, n / T), dim3(T, T)>>>(c, a, b, n);
    window7<<<4, BLOCK>>>(c, a);
    return cudaDeviceSynchronize();
}
