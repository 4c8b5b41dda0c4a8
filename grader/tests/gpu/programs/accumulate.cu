#include "harness.h"
namespace sk {
#define accumulate accumulate_sk
#include "chapters/01-restrict/accumulate.cu"
#undef accumulate
}
namespace s1 {
#define accumulate accumulate_s1
#include "solutions/01-restrict/accumulate-1-unqualified.cu"
#undef accumulate
}
namespace s2 {
#define accumulate accumulate_s2
#include "solutions/01-restrict/accumulate-2-register.cu"
#undef accumulate
}
namespace s3 {
#define accumulate accumulate_s3
#include "solutions/01-restrict/accumulate-3-restrict.cu"
#undef accumulate
}
namespace model {
#define accumulate accumulate_model
#include "solutions/01-restrict/accumulate.cu"
#undef accumulate
}
int main(int argc, char **argv) {
    const bool large = argc > 1 && !strcmp(argv[1], "large"), timing = argc > 2;
    const int n = large ? 517 : 131;
    const int k = large ? 128 : 37;
    const int m = large ? 257 : 129;
    buffers.reserve(16);
    int *c = make<int>("c", (size_t)n * m, true, [&](size_t i) { (void)i; return R(-1000000, 1000000); });
    int *a = make<int>("a", (size_t)n * k, false, [&](size_t i) { (void)i; return R(-2000, 2000); });
    int *b = make<int>("b", (size_t)k * m, false, [&](size_t i) { (void)i; return R(-2000, 2000); });
    return run_all({
        {"sk:skeleton", [&] { sk::accumulate_sk(c, a, b, n, k, m); }},
        {"s1:1-unqualified", [&] { s1::accumulate_s1(c, a, b, n, k, m); }},
        {"s2:2-register", [&] { s2::accumulate_s2(c, a, b, n, k, m); }},
        {"s3:3-restrict", [&] { s3::accumulate_s3(c, a, b, n, k, m); }},
        {"model:model", [&] { model::accumulate_model(c, a, b, n, k, m); }},
    }, timing);
}
