// expect: RTE
// In the last group, threads without an element store nothing, and the tree reads their slots.

constexpr int GROUP = 256;

__global__ void reduce(int *__restrict__ sums, const int *__restrict__ in, int n) {
    __shared__ int part[GROUP];
    int t = threadIdx.x, i = blockIdx.x * GROUP + t;
    if (i < n) part[t] = in[i];
    __syncthreads();

    for (int distance = GROUP / 2; distance > 0; distance /= 2) {
        if (t < distance) part[t] += part[t + distance];
        __syncthreads();
    }
    if (t == 0) sums[blockIdx.x] = part[0];
}

extern "C" void reduce_addressing(int *sums, const int *in, int n) {
    if (n == 0) return;
    reduce<<<(n + GROUP - 1) / GROUP, GROUP>>>(sums, in, n);
}
