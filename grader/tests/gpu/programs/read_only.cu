#include "harness.h"
namespace sk {
#define read_only read_only_sk
#include "chapters/01-restrict/read_only.cu"
#undef read_only
}
namespace s1 {
#define read_only read_only_s1
#include "solutions/01-restrict/read_only-1-unqualified.cu"
#undef read_only
}
namespace s2 {
#define read_only read_only_s2
#include "solutions/01-restrict/read_only-2-ldg.cu"
#undef read_only
}
namespace s3 {
#define read_only read_only_s3
#include "solutions/01-restrict/read_only-3-locals.cu"
#undef read_only
}
namespace model {
#define read_only read_only_model
#include "solutions/01-restrict/read_only.cu"
#undef read_only
}
int main(int argc, char **argv) {
    const bool large = argc > 1 && !strcmp(argv[1], "large"), timing = argc > 2;
    const int n = large ? 4194307 : 500003;
    buffers.reserve(16);
    float *out_re = make<float>("out_re", n, true, [&](size_t i) { (void)i; return 0; });
    float *out_im = make<float>("out_im", n, true, [&](size_t i) { (void)i; return 0; });
    float *re = make<float>("re", n, false, [&](size_t i) { (void)i; return U(-1, 1); });
    float *im = make<float>("im", n, false, [&](size_t i) { (void)i; return U(-1, 1); });
    float *rotation = make<float>("rotation", 2, false, [&](size_t i) { (void)i; return U(-1, 1); });
    return run_all({
        {"sk:skeleton", [&] { sk::read_only_sk(out_re, out_im, re, im, rotation, n); }},
        {"s1:1-unqualified", [&] { s1::read_only_s1(out_re, out_im, re, im, rotation, n); }},
        {"s2:2-ldg", [&] { s2::read_only_s2(out_re, out_im, re, im, rotation, n); }},
        {"s3:3-locals", [&] { s3::read_only_s3(out_re, out_im, re, im, rotation, n); }},
        {"model:model", [&] { model::read_only_model(out_re, out_im, re, im, rotation, n); }},
    }, timing);
}
