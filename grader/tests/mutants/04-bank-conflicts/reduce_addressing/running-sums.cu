// expect: PART shared_read_requests_total
// A scan in place of a tree: all threads work in all rounds.

constexpr int GROUP = 256;
__global__ void reduce(int *sums, const int *in, int n) {
    __shared__ int part[2 * GROUP];
    int t = threadIdx.x, i = blockIdx.x * GROUP + t;
    part[t] = 0; part[GROUP + t] = i < n ? in[i] : 0;
    __syncthreads();
    for (int d = 1; d < GROUP; d *= 2) { int v = part[GROUP + t - d]; __syncthreads(); part[GROUP + t] += v; __syncthreads(); }
    if (t == GROUP - 1) sums[blockIdx.x] = part[2 * GROUP - 1];
}
extern "C" void reduce_addressing(int *sums, const int *in, int n) { if (n) reduce<<<(n + GROUP - 1) / GROUP, GROUP>>>(sums, in, n); }
