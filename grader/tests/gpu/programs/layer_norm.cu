#include "harness.h"
namespace sk {
#define layer_norm layer_norm_sk
#include "chapters/07-fusion/layer_norm.cu"
#undef layer_norm
}
namespace s1 {
#define layer_norm layer_norm_s1
#include "solutions/07-fusion/layer_norm-1-four-kernels.cu"
#undef layer_norm
}
namespace s2 {
#define layer_norm layer_norm_s2
#include "solutions/07-fusion/layer_norm-2-one-kernel.cu"
#undef layer_norm
}
namespace model {
#define layer_norm layer_norm_model
#include "solutions/07-fusion/layer_norm.cu"
#undef layer_norm
}
int main(int argc, char **argv) {
    const bool large = argc > 1 && !strcmp(argv[1], "large"), timing = argc > 2;
    const int rows = large ? 4097 : 101;
    const int cols = large ? 1021 : 1003;
    buffers.reserve(16);
    float *out = make<float>("out", (size_t)rows * cols, true, [&](size_t i) { (void)i; return 0; });
    float *x = make<float>("x", (size_t)rows * cols, false, [&](size_t i) { (void)i; return U(-1, 1); });
    float *residual = make<float>("residual", (size_t)rows * cols, false, [&](size_t i) { (void)i; return U(-1, 1); });
    float *gamma = make<float>("gamma", cols, false, [&](size_t i) { (void)i; return U(-1, 1); });
    float *beta = make<float>("beta", cols, false, [&](size_t i) { (void)i; return U(-1, 1); });
    return run_all({
        {"sk:skeleton", [&] { sk::layer_norm_sk(out, x, residual, gamma, beta, rows, cols); }},
        {"s1:1-four-kernels", [&] { s1::layer_norm_s1(out, x, residual, gamma, beta, rows, cols); }},
        {"s2:2-one-kernel", [&] { s2::layer_norm_s2(out, x, residual, gamma, beta, rows, cols); }},
        {"model:model", [&] { model::layer_norm_model(out, x, residual, gamma, beta, rows, cols); }},
    }, timing);
}
