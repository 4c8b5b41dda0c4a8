// What lesson 08 shows: eight coefficients that every thread reads, in global memory and in constant memory.
__constant__ float fixed[8];

extern "C" __global__ void from_global(float *y, const float *x, const float *coefficients) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float v = x[i], sum = 0; // picture: everybody load
    for (int k = 0; k < 8; k++)
        sum = sum * v + coefficients[k]; // picture: everybody load
    y[i] = sum;
}

extern "C" __global__ void from_constant(float *y, const float *x) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float v = x[i], sum = 0;
    for (int k = 0; k < 8; k++)
        sum = sum * v + fixed[k];
    y[i] = sum;
}

int main() {
    enum { N = 1 << 16 };
    float *x, *y, host[8] = {1, 2, 3, 4, 5, 6, 7, 8}, *coefficients;
    cudaMalloc(&x, N * sizeof *x);
    cudaMalloc(&y, N * sizeof *y);
    cudaMalloc(&coefficients, sizeof host);
    cudaMemset(x, 0, N * sizeof *x);
    cudaMemcpy(coefficients, host, sizeof host, cudaMemcpyHostToDevice);
    cudaMemcpyToSymbol(fixed, host, sizeof host);
    from_global<<<N / 256, 256>>>(y, x, coefficients);
    from_constant<<<N / 256, 256>>>(y, x);
    return cudaDeviceSynchronize();
}
