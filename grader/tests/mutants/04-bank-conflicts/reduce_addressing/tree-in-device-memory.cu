// expect: PART device_read_sectors
// The tree is in device memory and all threads work in all rounds: no conflicts, branches or shared memory.

__device__ int scratch[1 << 25];
constexpr int GROUP = 256;
__global__ void reduce(int *__restrict__ sums, const int *__restrict__ in, int n) {
    int t = threadIdx.x, i = blockIdx.x * GROUP + t;
    volatile int *part = scratch + blockIdx.x * GROUP;
    int v = i < n ? in[i] : 0;
    for (int d = 1; d < 8; d *= 2) v += __shfl_down_sync(~0u, v, d);
    for (int distance = 8; distance < GROUP; distance *= 2) {
        part[t] = v;
        __syncthreads();
        int o = part[(t + distance) % GROUP];
        v += o;
        __syncthreads();
    }
    if (t == 0) sums[blockIdx.x] = v;
}
extern "C" void reduce_addressing(int *sums, const int *in, int n) {
    if (n == 0) return;
    reduce<<<(n + GROUP - 1) / GROUP, GROUP>>>(sums, in, n);
}
