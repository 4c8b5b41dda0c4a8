#include "harness.h"
namespace sk {
#define matmul_tiled matmul_tiled_sk
#include "chapters/03-tiling/matmul_tiled.cu"
#undef matmul_tiled
}
namespace s1 {
#define matmul_tiled matmul_tiled_s1
#include "solutions/03-tiling/matmul_tiled-1-naive.cu"
#undef matmul_tiled
}
namespace s2 {
#define matmul_tiled matmul_tiled_s2
#include "solutions/03-tiling/matmul_tiled-2-tile16.cu"
#undef matmul_tiled
}
namespace model {
#define matmul_tiled matmul_tiled_model
#include "solutions/03-tiling/matmul_tiled.cu"
#undef matmul_tiled
}
int main(int argc, char **argv) {
    const bool large = argc > 1 && !strcmp(argv[1], "large"), timing = argc > 2;
    const int n = large ? 515 : 131;
    const int k = large ? 128 : 67;
    const int m = large ? 517 : 149;
    buffers.reserve(16);
    float *c = make<float>("c", (size_t)n * m, true, [&](size_t i) { (void)i; return 0; });
    float *a = make<float>("a", (size_t)n * k, false, [&](size_t i) { (void)i; return U(-1, 1); });
    float *b = make<float>("b", (size_t)k * m, false, [&](size_t i) { (void)i; return U(-1, 1); });
    return run_all({
        {"sk:skeleton", [&] { sk::matmul_tiled_sk(c, a, b, n, k, m); }},
        {"s1:1-naive", [&] { s1::matmul_tiled_s1(c, a, b, n, k, m); }},
        {"s2:2-tile16", [&] { s2::matmul_tiled_s2(c, a, b, n, k, m); }},
        {"model:model", [&] { model::matmul_tiled_model(c, a, b, n, k, m); }},
    }, timing);
}
