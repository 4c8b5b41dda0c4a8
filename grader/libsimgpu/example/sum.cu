// Sums each block's elements in shared memory. It lacks a barrier between two steps of the loop.
extern "C" __global__ void sum(const float *in, float *out, int n) {
    __shared__ float part[256];
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    part[t] = i < n ? in[i] : 0;
    for (int half = blockDim.x / 2; half; half /= 2) {
        __syncthreads();
        if (t < half) part[t] += part[t + half];
    }
    if (t == 0) out[blockIdx.x] = part[0];
    if (t == 1) out[blockIdx.x] += part[1]; // wrong: thread 0 may not have stored yet
}
