// What the questions of chapter 06 count: how much fits on an SM, and the requests of a fixed grid.
extern "C" __global__ void small_blocks(float *out) { out[blockIdx.x * blockDim.x + threadIdx.x] = 1.0f; }

extern "C" __global__ void much_shared(float *out) {
    __shared__ float s[12288]; // 48 KB
    s[threadIdx.x] = threadIdx.x;
    __syncthreads();
    out[blockIdx.x * blockDim.x + threadIdx.x] = s[threadIdx.x ^ 1];
}

extern "C" __global__ void fixed_grid(int *out, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) out[i] = i;
}

int main() {
    float *out;
    cudaMalloc(&out, 1 << 16);
    small_blocks<<<64, 32>>>(out);
    much_shared<<<64, 128>>>(out);
    fixed_grid<<<4, 64>>>((int *)out, 1000);
    return cudaDeviceSynchronize();
}
