// AC | - | cp.async through a pipeline of the library | 
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
namespace cg = cooperative_groups;
__global__ void k(int *out, const int *in, int n) {
    __shared__ int s[256];
    int first = blockIdx.x * 256, here = n - first < 256 ? n - first : 256;
    auto block = cg::this_thread_block();
    cg::memcpy_async(block, s, in + first, here * sizeof *s);
    cg::wait(block);
    if ((int)threadIdx.x < here) out[first + threadIdx.x] = s[threadIdx.x] + 1;
}
extern "C" void plus_one(int *out, const int *in, int n) {
    if (n) k<<<(n + 255) / 256, 256>>>(out, in, n);
}
