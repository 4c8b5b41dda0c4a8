#include "harness.h"
namespace sk {
#define convolution convolution_sk
#include "chapters/08-constant-memory/convolution.cu"
#undef convolution
}
namespace s1 {
#define convolution convolution_s1
#include "solutions/08-constant-memory/convolution-1-global.cu"
#undef convolution
}
namespace s2 {
#define convolution convolution_s2
#include "solutions/08-constant-memory/convolution-2-shared-filter.cu"
#undef convolution
}
namespace s3 {
#define convolution convolution_s3
#include "solutions/08-constant-memory/convolution-3-constant.cu"
#undef convolution
}
namespace s4 {
#define convolution convolution_s4
#include "solutions/08-constant-memory/convolution-4-tile.cu"
#undef convolution
}
namespace model {
#define convolution convolution_model
#include "solutions/08-constant-memory/convolution.cu"
#undef convolution
}
int main(int argc, char **argv) {
    const bool large = argc > 1 && !strcmp(argv[1], "large"), timing = argc > 2;
    const int n = large ? 4194307 : 60003;
    const int radius = large ? 16 : 9;
    buffers.reserve(16);
    float *out = make<float>("out", n, true, [&](size_t i) { (void)i; return 0; });
    float *in = make<float>("in", n, false, [&](size_t i) { (void)i; return U(-1, 1); });
    float *filter = make<float>("filter", 2 * radius + 1, false, [&](size_t i) { (void)i; return U(-1, 1); });
    return run_all({
        {"sk:skeleton", [&] { sk::convolution_sk(out, in, filter, n, radius); }},
        {"s1:1-global", [&] { s1::convolution_s1(out, in, filter, n, radius); }},
        {"s2:2-shared-filter", [&] { s2::convolution_s2(out, in, filter, n, radius); }},
        {"s3:3-constant", [&] { s3::convolution_s3(out, in, filter, n, radius); }},
        {"s4:4-tile", [&] { s4::convolution_s4(out, in, filter, n, radius); }},
        {"model:model", [&] { model::convolution_model(out, in, filter, n, radius); }},
    }, timing);
}
