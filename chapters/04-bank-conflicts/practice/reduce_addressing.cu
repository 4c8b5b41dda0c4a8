// reduce_addressing by CUB's reduction of a block, for the lesson's "In practice".
#include <cub/block/block_reduce.cuh>

constexpr int GROUP = 256;

__global__ void sum_groups(int *sums, const int *in, int n) {
    using reduce = cub::BlockReduce<int, GROUP>;
    __shared__ reduce::TempStorage room;
    int i = blockIdx.x * GROUP + threadIdx.x;
    int sum = reduce(room).Sum(i < n ? in[i] : 0);
    if (threadIdx.x == 0) sums[blockIdx.x] = sum;
}

extern "C" void reduce_addressing(int *sums, const int *in, int n) {
    if (n > 0) sum_groups<<<(n + GROUP - 1) / GROUP, GROUP>>>(sums, in, n);
}
