// What the questions of chapter 07 count: the same chain in two kernels and in one.
extern "C" __global__ void scale(float *t, const float *x) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    t[i] = 2.0f * x[i] + 1.0f;
}

extern "C" __global__ void gate(float *out, const float *t, const float *y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = t[i] * y[i];
}

extern "C" __global__ void both(float *out, const float *x, const float *y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = (2.0f * x[i] + 1.0f) * y[i];
}

int main() {
    const int n = 1024, bytes = n * sizeof(float);
    float *x, *y, *t, *out;
    cudaMalloc(&x, bytes);
    cudaMalloc(&y, bytes);
    cudaMalloc(&t, bytes);
    cudaMalloc(&out, bytes);
    cudaMemset(x, 0, bytes);
    cudaMemset(y, 0, bytes);
    scale<<<n / 256, 256>>>(t, x);
    gate<<<n / 256, 256>>>(out, t, y);
    both<<<n / 256, 256>>>(out, x, y);
    return cudaDeviceSynchronize();
}
