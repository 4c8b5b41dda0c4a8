// expect: PART
// From global memory.

__global__ void look_up(float *__restrict__ out, const int *__restrict__ index,
                        const float *__restrict__ table, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = table[index[i]];
}

extern "C" void shared_budget(float *out, const int *index, const float *table, int n, int entries) {
    if (n == 0) return;
    const int threads = 1024;
    look_up<<<(n + threads - 1) / threads, threads>>>(out, index, table, n);
}
