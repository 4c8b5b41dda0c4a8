#include "harness.h"
namespace sk {
#define sum_reduce sum_reduce_sk
#include "chapters/05-atomics-reduction/sum_reduce.cu"
#undef sum_reduce
}
namespace s1 {
#define sum_reduce sum_reduce_s1
#include "solutions/05-atomics-reduction/sum_reduce-1-tree.cu"
#undef sum_reduce
}
namespace s2 {
#define sum_reduce sum_reduce_s2
#include "solutions/05-atomics-reduction/sum_reduce-2-shuffles.cu"
#undef sum_reduce
}
namespace s3 {
#define sum_reduce sum_reduce_s3
#include "solutions/05-atomics-reduction/sum_reduce-3-warp-a-row.cu"
#undef sum_reduce
}
namespace model {
#define sum_reduce sum_reduce_model
#include "solutions/05-atomics-reduction/sum_reduce.cu"
#undef sum_reduce
}
int main(int argc, char **argv) {
    const bool large = argc > 1 && !strcmp(argv[1], "large"), timing = argc > 2;
    const int rows = large ? 65537 : 301;
    const int cols = large ? 251 : 1003;
    buffers.reserve(16);
    float *sums = make<float>("sums", rows, true, [&](size_t i) { (void)i; return 0; });
    float *in = make<float>("in", (size_t)rows * cols, false, [&](size_t i) { (void)i; return U(-1, 1); });
    return run_all({
        {"sk:skeleton", [&] { sk::sum_reduce_sk(sums, in, rows, cols); }},
        {"s1:1-tree", [&] { s1::sum_reduce_s1(sums, in, rows, cols); }},
        {"s2:2-shuffles", [&] { s2::sum_reduce_s2(sums, in, rows, cols); }},
        {"s3:3-warp-a-row", [&] { s3::sum_reduce_s3(sums, in, rows, cols); }},
        {"model:model", [&] { model::sum_reduce_model(sums, in, rows, cols); }},
    }, timing);
}
