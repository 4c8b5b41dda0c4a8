// What lesson 09 shows: the tile of lesson 03 with one buffer and with two; and which lanes of a warp share values.
// n is a multiple of 256.
enum { TILE = 256 };

extern "C" __global__ void one_buffer(float *out, const float *x, int n) {
    __shared__ float tile[TILE];
    float mine = x[blockIdx.x * TILE + threadIdx.x], sum = 0;
    for (int first = 0; first < n; first += TILE) {
        tile[threadIdx.x] = x[first + threadIdx.x];        // fetch, and wait
        __syncthreads();
        for (int j = 0; j < TILE; j++) sum += fabsf(mine - tile[j]);
        __syncthreads();
    }
    out[blockIdx.x * TILE + threadIdx.x] = sum;
}

extern "C" __global__ void two_buffers(float *out, const float *x, int n) {
    __shared__ float tile[2][TILE];
    float mine = x[blockIdx.x * TILE + threadIdx.x], sum = 0, next = x[threadIdx.x];
    for (int first = 0, turn = 0; first < n; first += TILE, turn ^= 1) {
        tile[turn][threadIdx.x] = next;
        __syncthreads();
        if (first + TILE < n) next = x[first + TILE + threadIdx.x]; // in flight while the tile is used
        for (int j = 0; j < TILE; j++) sum += fabsf(mine - tile[turn][j]);
    }
    out[blockIdx.x * TILE + threadIdx.x] = sum;
}

extern "C" __global__ void row_by_row(float4 *out) {
    __shared__ float4 b[4];
    int lane = threadIdx.x;
    if (lane < 4) b[lane] = make_float4(lane, 0, 0, 0);
    __syncthreads();
    out[lane] = b[lane % 4];
}

extern "C" __global__ void two_by_two(float4 *out) {
    __shared__ float4 b[4];
    int lane = threadIdx.x;
    if (lane < 4) b[lane] = make_float4(lane, 0, 0, 0);
    __syncthreads();
    out[lane] = b[lane / 4 % 2 * 2 + lane % 2];
}

int main() {
    enum { N = 1024 };
    float *x, *out;
    cudaMalloc(&x, N * sizeof *x);
    cudaMalloc(&out, N * sizeof *out);
    cudaMemset(x, 0, N * sizeof *x);
    one_buffer<<<N / TILE, TILE>>>(out, x, N);
    two_buffers<<<N / TILE, TILE>>>(out, x, N);
    row_by_row<<<1, 32>>>((float4 *)out);
    two_by_two<<<1, 32>>>((float4 *)out);
    return cudaDeviceSynchronize();
}
