// expect: PART
// No tree: all threads add to one word of shared memory.

constexpr int GROUP = 256;

__global__ void reduce(int *__restrict__ sums, const int *__restrict__ in, int n) {
    __shared__ int part[GROUP];
    int t = threadIdx.x, i = blockIdx.x * GROUP + t;
    part[t] = i < n ? in[i] : 0;
    __syncthreads();

    __shared__ int total;
    if (t == 0) total = 0;
    __syncthreads();
    atomicAdd(&total, part[t]);
    __syncthreads();
    if (t == 0) sums[blockIdx.x] = total;
}

extern "C" void reduce_addressing(int *sums, const int *in, int n) {
    if (n == 0) return;
    reduce<<<(n + GROUP - 1) / GROUP, GROUP>>>(sums, in, n);
}
