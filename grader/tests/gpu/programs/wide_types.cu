#include "harness.h"
namespace sk {
#define wide_types wide_types_sk
#include "chapters/04-bank-conflicts/wide_types.cu"
#undef wide_types
}
namespace s1 {
#define wide_types wide_types_s1
#include "solutions/04-bank-conflicts/wide_types-1-members.cu"
#undef wide_types
}
namespace s2 {
#define wide_types wide_types_s2
#include "solutions/04-bank-conflicts/wide_types-2-longer-rows.cu"
#undef wide_types
}
namespace s3 {
#define wide_types wide_types_s3
#include "solutions/04-bank-conflicts/wide_types-3-split.cu"
#undef wide_types
}
namespace model {
#define wide_types wide_types_model
#include "solutions/04-bank-conflicts/wide_types.cu"
#undef wide_types
}
int main(int argc, char **argv) {
    const bool large = argc > 1 && !strcmp(argv[1], "large"), timing = argc > 2;
    const int rows = large ? 1027 : 261;
    const int cols = large ? 1021 : 389;
    buffers.reserve(16);
    float *out = make<float>("out", (size_t)rows * cols * 4, true, [&](size_t i) { (void)i; return 0; });
    float *in = make<float>("in", (size_t)rows * cols * 4, false, [&](size_t i) { (void)i; return U(-1, 1); });
    return run_all({
        {"sk:skeleton", [&] { sk::wide_types_sk(out, in, rows, cols); }},
        {"s1:1-members", [&] { s1::wide_types_s1(out, in, rows, cols); }},
        {"s2:2-longer-rows", [&] { s2::wide_types_s2(out, in, rows, cols); }},
        {"s3:3-split", [&] { s3::wide_types_s3(out, in, rows, cols); }},
        {"model:model", [&] { model::wide_types_model(out, in, rows, cols); }},
    }, timing);
}
