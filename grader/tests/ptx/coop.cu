// What cooperative groups, atomics and warp functions look like; coop.ptx is made from it as in features.cu:
//   nvcc -ptx -lineinfo -arch=compute_80 coop.cu -o coop.ptx && sed -i 's#"/.*/#"#' coop.ptx
#include <cooperative_groups.h>
namespace cg = cooperative_groups;

__global__ void groups(int *out) {
    auto warp = cg::tiled_partition<32>(cg::this_thread_block());
    int v = warp.shfl_down(out[threadIdx.x], 4);
    v += __reduce_add_sync(~0u, v);
    cg::this_grid().sync();
    atomicAdd(out, v);
    int all;
    out[1] = __match_all_sync(~0u, v, &all) + all;
    out[2] = __ballot_sync(~0u, v > 2);
}
