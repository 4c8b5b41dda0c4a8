#include "harness.h"
namespace sk {
#define transpose_padded transpose_padded_sk
#include "chapters/04-bank-conflicts/transpose_padded.cu"
#undef transpose_padded
}
namespace s1 {
#define transpose_padded transpose_padded_s1
#include "solutions/04-bank-conflicts/transpose_padded-1-tile.cu"
#undef transpose_padded
}
namespace s2 {
#define transpose_padded transpose_padded_s2
#include "solutions/04-bank-conflicts/transpose_padded-2-even-pad.cu"
#undef transpose_padded
}
namespace model {
#define transpose_padded transpose_padded_model
#include "solutions/04-bank-conflicts/transpose_padded.cu"
#undef transpose_padded
}
int main(int argc, char **argv) {
    const bool large = argc > 1 && !strcmp(argv[1], "large"), timing = argc > 2;
    const int rows = large ? 2051 : 517;
    const int cols = large ? 2045 : 389;
    buffers.reserve(16);
    int *out = make<int>("out", (size_t)rows * cols, true, [&](size_t i) { (void)i; return 0; });
    int *in = make<int>("in", (size_t)rows * cols, false, [&](size_t i) { (void)i; return R(-1000000, 1000000); });
    return run_all({
        {"sk:skeleton", [&] { sk::transpose_padded_sk(out, in, rows, cols); }},
        {"s1:1-tile", [&] { s1::transpose_padded_s1(out, in, rows, cols); }},
        {"s2:2-even-pad", [&] { s2::transpose_padded_s2(out, in, rows, cols); }},
        {"model:model", [&] { model::transpose_padded_model(out, in, rows, cols); }},
    }, timing);
}
