#include "harness.h"
namespace sk {
#define pitched_rows pitched_rows_sk
#include "chapters/02-coalescing/pitched_rows.cu"
#undef pitched_rows
}
namespace s1 {
#define pitched_rows pitched_rows_s1
#include "solutions/02-coalescing/pitched_rows-1-compact.cu"
#undef pitched_rows
}
namespace s2 {
#define pitched_rows pitched_rows_s2
#include "solutions/02-coalescing/pitched_rows-2-copied.cu"
#undef pitched_rows
}
namespace model {
#define pitched_rows pitched_rows_model
#include "solutions/02-coalescing/pitched_rows.cu"
#undef pitched_rows
}
int main(int argc, char **argv) {
    const bool large = argc > 1 && !strcmp(argv[1], "large"), timing = argc > 2;
    const int rows = large ? 4000 : 203;
    const int cols = large ? 1001 : 1001;
    const int steps = large ? 3 : 2;
    buffers.reserve(16);
    float *out = make<float>("out", (size_t)rows * cols, true, [&](size_t i) { (void)i; return 0; });
    float *in = make<float>("in", (size_t)rows * cols, false, [&](size_t i) { (void)i; return U(-1, 1); });
    return run_all({
        {"sk:skeleton", [&] { sk::pitched_rows_sk(out, in, rows, cols, steps); }},
        {"s1:1-compact", [&] { s1::pitched_rows_s1(out, in, rows, cols, steps); }},
        {"s2:2-copied", [&] { s2::pitched_rows_s2(out, in, rows, cols, steps); }},
        {"model:model", [&] { model::pitched_rows_model(out, in, rows, cols, steps); }},
    }, timing);
}
