// What lesson 01 shows: the highest of 64 samples, kept in memory or in a register; and a store that hides a load.
extern "C" __global__ void in_memory(float *highest, const float *x, int samples, int signals) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    for (int k = 0; k < samples; k++)
        highest[i] = fmaxf(highest[i], x[k * signals + i]);
}

extern "C" __global__ void in_a_register(float *highest, const float *x, int samples, int signals) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float h = highest[i];
    for (int k = 0; k < samples; k++)
        h = fmaxf(h, x[k * signals + i]);
    highest[i] = h;
}

extern "C" __global__ void other_types(int *out, const float *scale, int n) {
    for (int i = 0; i < n; i++) out[i * gridDim.x] = (int)(*scale * i);
}

int main() {
    enum { SIGNALS = 256, SAMPLES = 64 };
    float *highest, *x;
    cudaMalloc(&highest, SIGNALS * sizeof *highest);
    cudaMalloc(&x, SIGNALS * SAMPLES * sizeof *x);
    cudaMemset(highest, 0, SIGNALS * sizeof *highest);
    cudaMemset(x, 0, SIGNALS * SAMPLES * sizeof *x);
    in_memory<<<1, SIGNALS>>>(highest, x, SAMPLES, SIGNALS);
    in_a_register<<<1, SIGNALS>>>(highest, x, SAMPLES, SIGNALS);
    other_types<<<1, 1>>>((int *)highest, x, SAMPLES);
    return cudaDeviceSynchronize();
}
