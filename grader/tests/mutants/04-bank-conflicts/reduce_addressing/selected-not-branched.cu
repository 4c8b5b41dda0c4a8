// expect: PART shared_read_requests_total
// Every second, fourth, eighth thread by a selection: no branch parts a warp, and no warp ever rests.

constexpr int GROUP = 256;
__global__ void reduce(int *sums, const int *in, int n) {
    __shared__ int part[GROUP];
    int t = threadIdx.x, i = blockIdx.x * GROUP + t;
    part[t] = i < n ? in[i] : 0;
    __syncthreads();
    for (int d = 1; d < GROUP; d *= 2) {
        int v = part[(t + d) % GROUP];
        v = t % (2 * d) == 0 ? v : 0;
        __syncthreads();
        part[t] += v;
        __syncthreads();
    }
    if (t == 0) sums[blockIdx.x] = part[0];
}
extern "C" void reduce_addressing(int *sums, const int *in, int n) { if (n) reduce<<<(n + GROUP - 1) / GROUP, GROUP>>>(sums, in, n); }
