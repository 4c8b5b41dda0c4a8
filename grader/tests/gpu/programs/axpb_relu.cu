#include "harness.h"
namespace sk {
#define axpb_relu axpb_relu_sk
#include "chapters/07-fusion/axpb_relu.cu"
#undef axpb_relu
}
namespace s1 {
#define axpb_relu axpb_relu_s1
#include "solutions/07-fusion/axpb_relu-1-three-kernels.cu"
#undef axpb_relu
}
namespace s2 {
#define axpb_relu axpb_relu_s2
#include "solutions/07-fusion/axpb_relu-2-two-kernels.cu"
#undef axpb_relu
}
namespace model {
#define axpb_relu axpb_relu_model
#include "solutions/07-fusion/axpb_relu.cu"
#undef axpb_relu
}
int main(int argc, char **argv) {
    const bool large = argc > 1 && !strcmp(argv[1], "large"), timing = argc > 2;
    const int n = large ? 16777219 : 500003;
    buffers.reserve(16);
    float *out = make<float>("out", n, true, [&](size_t i) { (void)i; return 0; });
    float *x = make<float>("x", n, false, [&](size_t i) { (void)i; return U(-1, 1); });
    return run_all({
        {"sk:skeleton", [&] { sk::axpb_relu_sk(out, x, 1.5f, 0.25f, n); }},
        {"s1:1-three-kernels", [&] { s1::axpb_relu_s1(out, x, 1.5f, 0.25f, n); }},
        {"s2:2-two-kernels", [&] { s2::axpb_relu_s2(out, x, 1.5f, 0.25f, n); }},
        {"model:model", [&] { model::axpb_relu_model(out, x, 1.5f, 0.25f, n); }},
    }, timing);
}
