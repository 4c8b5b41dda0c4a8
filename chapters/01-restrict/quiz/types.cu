// What the questions of chapter 01 count. `n` is not known to the compiler, so that no loop disappears.
extern "C" __global__ void two_types(int *out, const float *scale, int n) {
    for (int i = 0; i < n; i++) out[i * 32 + threadIdx.x] = (int)(*scale * i);
}

extern "C" __global__ void promised(int *__restrict__ out, const float *__restrict__ scale, int n) {
    for (int i = 0; i < n; i++) out[i * 32 + threadIdx.x] = (int)(*scale * i);
}

extern "C" __global__ void running(int *c, const int *a, int n) {
    for (int i = 0; i < n; i++) c[threadIdx.x] += a[i * 32 + threadIdx.x];
}

int main() {
    const int n = 8;
    int *out, *a;
    float *scale;
    cudaMalloc(&out, n * 32 * sizeof *out);
    cudaMalloc(&a, n * 32 * sizeof *a);
    cudaMalloc(&scale, sizeof *scale);
    cudaMemset(out, 0, n * 32 * sizeof *out);
    cudaMemset(a, 0, n * 32 * sizeof *a);
    cudaMemset(scale, 0, sizeof *scale);
    two_types<<<1, 32>>>(out, scale, n);
    promised<<<1, 32>>>(out, scale, n);
    running<<<1, 32>>>(out, a, n);
    return cudaDeviceSynchronize();
}
