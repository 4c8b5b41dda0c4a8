#include "harness.h"
namespace sk {
#define scale_add scale_add_sk
#include "chapters/07-fusion/scale_add.cu"
#undef scale_add
}
namespace s1 {
#define scale_add scale_add_s1
#include "solutions/07-fusion/scale_add-1-two-kernels.cu"
#undef scale_add
}
namespace s2 {
#define scale_add scale_add_s2
#include "solutions/07-fusion/scale_add-2-no-temporary.cu"
#undef scale_add
}
namespace model {
#define scale_add scale_add_model
#include "solutions/07-fusion/scale_add.cu"
#undef scale_add
}
int main(int argc, char **argv) {
    const bool large = argc > 1 && !strcmp(argv[1], "large"), timing = argc > 2;
    const int n = large ? 16777219 : 500003;
    buffers.reserve(16);
    float *out = make<float>("out", n, true, [&](size_t i) { (void)i; return 0; });
    float *x = make<float>("x", n, false, [&](size_t i) { (void)i; return U(-1, 1); });
    float *y = make<float>("y", n, false, [&](size_t i) { (void)i; return U(-1, 1); });
    return run_all({
        {"sk:skeleton", [&] { sk::scale_add_sk(out, x, y, 1.5f, n); }},
        {"s1:1-two-kernels", [&] { s1::scale_add_s1(out, x, y, 1.5f, n); }},
        {"s2:2-no-temporary", [&] { s2::scale_add_s2(out, x, y, 1.5f, n); }},
        {"model:model", [&] { model::scale_add_model(out, x, y, 1.5f, n); }},
    }, timing);
}
