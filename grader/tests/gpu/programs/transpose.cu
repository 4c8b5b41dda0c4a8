#include "harness.h"
namespace sk {
#define transpose transpose_sk
#include "chapters/02-coalescing/transpose.cu"
#undef transpose
}
namespace s1 {
#define transpose transpose_s1
#include "solutions/02-coalescing/transpose-1-coalesced-reads.cu"
#undef transpose
}
namespace s2 {
#define transpose transpose_s2
#include "solutions/02-coalescing/transpose-2-coalesced-writes.cu"
#undef transpose
}
namespace s3 {
#define transpose transpose_s3
#include "solutions/02-coalescing/transpose-3-tile.cu"
#undef transpose
}
namespace model {
#define transpose transpose_model
#include "solutions/02-coalescing/transpose.cu"
#undef transpose
}
int main(int argc, char **argv) {
    const bool large = argc > 1 && !strcmp(argv[1], "large"), timing = argc > 2;
    const int rows = large ? 2051 : 1000;
    const int cols = large ? 2045 : 777;
    buffers.reserve(16);
    float *out = make<float>("out", (size_t)rows * cols, true, [&](size_t i) { (void)i; return 0; });
    float *in = make<float>("in", (size_t)rows * cols, false, [&](size_t i) { (void)i; return U(-1, 1); });
    return run_all({
        {"sk:skeleton", [&] { sk::transpose_sk(out, in, rows, cols); }},
        {"s1:1-coalesced-reads", [&] { s1::transpose_s1(out, in, rows, cols); }},
        {"s2:2-coalesced-writes", [&] { s2::transpose_s2(out, in, rows, cols); }},
        {"s3:3-tile", [&] { s3::transpose_s3(out, in, rows, cols); }},
        {"model:model", [&] { model::transpose_model(out, in, rows, cols); }},
    }, timing);
}
