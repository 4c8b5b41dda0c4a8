#include "harness.h"
namespace sk {
#define vector_add vector_add_sk
#include "chapters/00-roofline/vector_add.cu"
#undef vector_add
}
namespace s1 {
#define vector_add vector_add_s1
#include "solutions/00-roofline/vector_add-1-one-block.cu"
#undef vector_add
}
namespace s2 {
#define vector_add vector_add_s2
#include "solutions/00-roofline/vector_add-2-one-element.cu"
#undef vector_add
}
namespace model {
#define vector_add vector_add_model
#include "solutions/00-roofline/vector_add.cu"
#undef vector_add
}
int main(int argc, char **argv) {
    const bool large = argc > 1 && !strcmp(argv[1], "large"), timing = argc > 2;
    const int n = large ? 4194307 : 1000003;
    const int blocks = large ? 1056 : 64;
    buffers.reserve(16);
    float *out = make<float>("out", n, true, [&](size_t i) { (void)i; return 0; });
    float *a = make<float>("a", n, false, [&](size_t i) { (void)i; return U(-1, 1); });
    float *b = make<float>("b", n, false, [&](size_t i) { (void)i; return U(-1, 1); });
    return run_all({
        {"sk:skeleton", [&] { sk::vector_add_sk(out, a, b, n, blocks); }},
        {"s1:1-one-block", [&] { s1::vector_add_s1(out, a, b, n, blocks); }},
        {"s2:2-one-element", [&] { s2::vector_add_s2(out, a, b, n, blocks); }},
        {"model:model", [&] { model::vector_add_model(out, a, b, n, blocks); }},
    }, timing);
}
