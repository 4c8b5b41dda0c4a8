// What lesson 06 shows of independent work in one thread: one chain of dependent multiply-adds, and four side by side.
constexpr int STEPS = 8192;

extern "C" __global__ void one_chain(float *x, float a, float b) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float v = x[i];
#pragma unroll 32
    for (int k = 0; k < STEPS; k++) v = v * a + b; // each step waits for the one before
    x[i] = v;
}

extern "C" __global__ void four_chains(float *x, float a, float b) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, threads = gridDim.x * blockDim.x;
    float v[4];
#pragma unroll
    for (int j = 0; j < 4; j++) v[j] = x[i + j * threads];
#pragma unroll 8
    for (int k = 0; k < STEPS; k++)
#pragma unroll
        for (int j = 0; j < 4; j++) v[j] = v[j] * a + b; // four steps that don't wait for each other
#pragma unroll
    for (int j = 0; j < 4; j++) x[i + j * threads] = v[j];
}

int main() {
    enum { N = 132 * 2048 * 4 };
    float *x;
    cudaMalloc(&x, N * sizeof *x);
    cudaMemset(x, 0, N * sizeof *x);
    for (int warps = 4; warps <= 32; warps *= 2) { // on each of 132 SMs
        one_chain<<<132 * warps / 4, 128>>>(x, 0.5f, 1);
        four_chains<<<132 * warps / 4, 128>>>(x, 0.5f, 1);
    }
    return cudaDeviceSynchronize();
}
