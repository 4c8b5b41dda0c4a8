// shared_budget: out[i] = table[index[i]]; a table of any size, and indices in no order.

__global__ void look_up(float *__restrict__ out, const int *__restrict__ index,
                        const float *__restrict__ table, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    // TODO: 32 lanes look up 32 sectors. The table, if it fits, would be better off in shared memory.
    if (i < n) out[i] = table[index[i]];
}

extern "C" void shared_budget(float *out, const int *index, const float *table, int n, int entries) {
    if (n == 0) return;
    const int threads = 1024;
    look_up<<<(n + threads - 1) / threads, threads>>>(out, index, table, n);
}
