// What lesson 07 shows: degrees Fahrenheit to Celsius, then those above a limit; two kernels and one.
extern "C" __global__ void to_celsius(float *t, const float *f) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    t[i] = (f[i] - 32) / 1.8f;
}

extern "C" __global__ void above(float *out, const float *t, float limit) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = fmaxf(t[i] - limit, 0);
}

extern "C" __global__ void both(float *out, const float *f, float limit) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float t = (f[i] - 32) / 1.8f;
    out[i] = fmaxf(t - limit, 0);
}

int main() {
    enum { N = 1 << 16 };
    float *f, *t, *out;
    cudaMalloc(&f, N * sizeof *f);
    cudaMalloc(&t, N * sizeof *t);
    cudaMalloc(&out, N * sizeof *out);
    cudaMemset(f, 0, N * sizeof *f);
    to_celsius<<<N / 256, 256>>>(t, f);
    above<<<N / 256, 256>>>(out, t, 20);
    both<<<N / 256, 256>>>(out, f, 20);
    return cudaDeviceSynchronize();
}
