#include "harness.h"
namespace sk {
#define sgemm sgemm_sk
#include "chapters/09-capstone/sgemm.cu"
#undef sgemm
}
namespace s1 {
#define sgemm sgemm_s1
#include "solutions/09-capstone/sgemm-1-naive.cu"
#undef sgemm
}
namespace s2 {
#define sgemm sgemm_s2
#include "solutions/09-capstone/sgemm-2-tile32.cu"
#undef sgemm
}
namespace s3 {
#define sgemm sgemm_s3
#include "solutions/09-capstone/sgemm-3-block8x8.cu"
#undef sgemm
}
namespace s4 {
#define sgemm sgemm_s4
#include "solutions/09-capstone/sgemm-4-warp-tiles.cu"
#undef sgemm
}
namespace s5 {
#define sgemm sgemm_s5
#include "solutions/09-capstone/sgemm-5-two-buffers.cu"
#undef sgemm
}
namespace model {
#define sgemm sgemm_model
#include "solutions/09-capstone/sgemm.cu"
#undef sgemm
}
int main(int argc, char **argv) {
    const bool large = argc > 1 && !strcmp(argv[1], "large"), timing = argc > 2;
    const int n = large ? 772 : 261;
    const int k = large ? 512 : 77;
    const int m = large ? 1412 : 263;
    buffers.reserve(16);
    float *c = make<float>("c", (size_t)n * m, true, [&](size_t i) { (void)i; return U(-1, 1); });
    float *a = make<float>("a", (size_t)n * k, false, [&](size_t i) { (void)i; return U(-1, 1); });
    float *b = make<float>("b", (size_t)k * m, false, [&](size_t i) { (void)i; return U(-1, 1); });
    return run_all({
        {"sk:skeleton", [&] { sk::sgemm_sk(c, a, b, n, k, m, 1.25f, -0.75f); }},
        {"s1:1-naive", [&] { s1::sgemm_s1(c, a, b, n, k, m, 1.25f, -0.75f); }},
        {"s2:2-tile32", [&] { s2::sgemm_s2(c, a, b, n, k, m, 1.25f, -0.75f); }},
        {"s3:3-block8x8", [&] { s3::sgemm_s3(c, a, b, n, k, m, 1.25f, -0.75f); }},
        {"s4:4-warp-tiles", [&] { s4::sgemm_s4(c, a, b, n, k, m, 1.25f, -0.75f); }},
        {"s5:5-two-buffers", [&] { s5::sgemm_s5(c, a, b, n, k, m, 1.25f, -0.75f); }},
        {"model:model", [&] { model::sgemm_model(c, a, b, n, k, m, 1.25f, -0.75f); }},
    }, timing);
}
