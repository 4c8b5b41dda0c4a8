#include "harness.h"
namespace sk {
#define matmul_register matmul_register_sk
#include "chapters/03-tiling/matmul_register.cu"
#undef matmul_register
}
namespace s1 {
#define matmul_register matmul_register_s1
#include "solutions/03-tiling/matmul_register-1-tile32.cu"
#undef matmul_register
}
namespace s2 {
#define matmul_register matmul_register_s2
#include "solutions/03-tiling/matmul_register-2-column8.cu"
#undef matmul_register
}
namespace s3 {
#define matmul_register matmul_register_s3
#include "solutions/03-tiling/matmul_register-3-block8x8.cu"
#undef matmul_register
}
namespace model {
#define matmul_register matmul_register_model
#include "solutions/03-tiling/matmul_register.cu"
#undef matmul_register
}
int main(int argc, char **argv) {
    const bool large = argc > 1 && !strcmp(argv[1], "large"), timing = argc > 2;
    const int n = large ? 1028 : 259;
    const int k = large ? 256 : 61;
    const int m = large ? 1028 : 263;
    buffers.reserve(16);
    float *c = make<float>("c", (size_t)n * m, true, [&](size_t i) { (void)i; return 0; });
    float *a = make<float>("a", (size_t)n * k, false, [&](size_t i) { (void)i; return U(-1, 1); });
    float *b = make<float>("b", (size_t)k * m, false, [&](size_t i) { (void)i; return U(-1, 1); });
    return run_all({
        {"sk:skeleton", [&] { sk::matmul_register_sk(c, a, b, n, k, m); }},
        {"s1:1-tile32", [&] { s1::matmul_register_s1(c, a, b, n, k, m); }},
        {"s2:2-column8", [&] { s2::matmul_register_s2(c, a, b, n, k, m); }},
        {"s3:3-block8x8", [&] { s3::matmul_register_s3(c, a, b, n, k, m); }},
        {"model:model", [&] { model::matmul_register_model(c, a, b, n, k, m); }},
    }, timing);
}
