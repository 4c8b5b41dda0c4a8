// What lesson 03 shows: each of n points against all others, without a tile and with one. n is a multiple of 256.
enum { TILE = 256 };

extern "C" __global__ void each_for_itself(float *out, const float *x, int n) {
    int i = blockIdx.x * TILE + threadIdx.x;
    float mine = x[i], sum = 0;
    for (int j = 0; j < n; j++)
        sum += fabsf(mine - x[j]); // picture: tile load
    out[i] = sum;
}

extern "C" __global__ void together(float *out, const float *x, int n) {
    __shared__ float tile[TILE];
    int i = blockIdx.x * TILE + threadIdx.x;
    float mine = x[i], sum = 0;
    for (int first = 0; first < n; first += TILE) {
        tile[threadIdx.x] = x[first + threadIdx.x]; // picture: tile load
        __syncthreads();
        for (int j = 0; j < TILE; j++)
            sum += fabsf(mine - tile[j]); // picture: tile load
        __syncthreads();
    }
    out[i] = sum;
}

int main() {
    enum { N = 1024 };
    float *x, *out;
    cudaMalloc(&x, N * sizeof *x);
    cudaMalloc(&out, N * sizeof *out);
    cudaMemset(x, 0, N * sizeof *x);
    each_for_itself<<<N / TILE, TILE>>>(out, x, N);
    together<<<N / TILE, TILE>>>(out, x, N);
    return cudaDeviceSynchronize();
}
