#include "harness.h"
namespace sk {
#define swizzle swizzle_sk
#include "chapters/04-bank-conflicts/swizzle.cu"
#undef swizzle
}
namespace s1 {
#define swizzle swizzle_s1
#include "solutions/04-bank-conflicts/swizzle-1-tile.cu"
#undef swizzle
}
namespace s2 {
#define swizzle swizzle_s2
#include "solutions/04-bank-conflicts/swizzle-2-rotate.cu"
#undef swizzle
}
namespace model {
#define swizzle swizzle_model
#include "solutions/04-bank-conflicts/swizzle.cu"
#undef swizzle
}
int main(int argc, char **argv) {
    const bool large = argc > 1 && !strcmp(argv[1], "large"), timing = argc > 2;
    const int rows = large ? 2051 : 517;
    const int cols = large ? 2045 : 389;
    buffers.reserve(16);
    int *out = make<int>("out", (size_t)rows * cols, true, [&](size_t i) { (void)i; return 0; });
    int *in = make<int>("in", (size_t)rows * cols, false, [&](size_t i) { (void)i; return R(-1000000, 1000000); });
    return run_all({
        {"sk:skeleton", [&] { sk::swizzle_sk(out, in, rows, cols); }},
        {"s1:1-tile", [&] { s1::swizzle_s1(out, in, rows, cols); }},
        {"s2:2-rotate", [&] { s2::swizzle_s2(out, in, rows, cols); }},
        {"model:model", [&] { model::swizzle_model(out, in, rows, cols); }},
    }, timing);
}
