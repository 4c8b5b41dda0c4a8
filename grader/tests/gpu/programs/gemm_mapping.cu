#include "harness.h"
namespace sk {
#define gemm_mapping gemm_mapping_sk
#include "chapters/02-coalescing/gemm_mapping.cu"
#undef gemm_mapping
}
namespace s1 {
#define gemm_mapping gemm_mapping_s1
#include "solutions/02-coalescing/gemm_mapping-1-rows-along-x.cu"
#undef gemm_mapping
}
namespace s2 {
#define gemm_mapping gemm_mapping_s2
#include "solutions/02-coalescing/gemm_mapping-2-square-blocks.cu"
#undef gemm_mapping
}
namespace model {
#define gemm_mapping gemm_mapping_model
#include "solutions/02-coalescing/gemm_mapping.cu"
#undef gemm_mapping
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
        {"sk:skeleton", [&] { sk::gemm_mapping_sk(c, a, b, n, k, m); }},
        {"s1:1-rows-along-x", [&] { s1::gemm_mapping_s1(c, a, b, n, k, m); }},
        {"s2:2-square-blocks", [&] { s2::gemm_mapping_s2(c, a, b, n, k, m); }},
        {"model:model", [&] { model::gemm_mapping_model(c, a, b, n, k, m); }},
    }, timing);
}
