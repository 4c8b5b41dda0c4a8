#include "harness.h"
namespace sk {
#define window_sum window_sum_sk
#include "chapters/03-tiling/window_sum.cu"
#undef window_sum
}
namespace s1 {
#define window_sum window_sum_s1
#include "solutions/03-tiling/window_sum-1-three-loads.cu"
#undef window_sum
}
namespace s2 {
#define window_sum window_sum_s2
#include "solutions/03-tiling/window_sum-2-shuffle.cu"
#undef window_sum
}
namespace s3 {
#define window_sum window_sum_s3
#include "solutions/03-tiling/window_sum-3-tile.cu"
#undef window_sum
}
namespace model {
#define window_sum window_sum_model
#include "solutions/03-tiling/window_sum.cu"
#undef window_sum
}
int main(int argc, char **argv) {
    const bool large = argc > 1 && !strcmp(argv[1], "large"), timing = argc > 2;
    const int n = large ? 4194307 : 500003;
    buffers.reserve(16);
    int *out = make<int>("out", n, true, [&](size_t i) { (void)i; return 0; });
    int *in = make<int>("in", n, false, [&](size_t i) { (void)i; return R(-1000000, 1000000); });
    return run_all({
        {"sk:skeleton", [&] { sk::window_sum_sk(out, in, n); }},
        {"s1:1-three-loads", [&] { s1::window_sum_s1(out, in, n); }},
        {"s2:2-shuffle", [&] { s2::window_sum_s2(out, in, n); }},
        {"s3:3-tile", [&] { s3::window_sum_s3(out, in, n); }},
        {"model:model", [&] { model::window_sum_model(out, in, n); }},
    }, timing);
}
