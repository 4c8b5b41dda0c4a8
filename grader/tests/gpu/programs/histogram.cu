#include "harness.h"
namespace sk {
#define histogram histogram_sk
#include "chapters/05-atomics-reduction/histogram.cu"
#undef histogram
}
namespace s1 {
#define histogram histogram_s1
#include "solutions/05-atomics-reduction/histogram-1-global.cu"
#undef histogram
}
namespace s2 {
#define histogram histogram_s2
#include "solutions/05-atomics-reduction/histogram-2-shared.cu"
#undef histogram
}
namespace s3 {
#define histogram histogram_s3
#include "solutions/05-atomics-reduction/histogram-3-runs.cu"
#undef histogram
}
namespace s4 {
#define histogram histogram_s4
#include "solutions/05-atomics-reduction/histogram-4-eight-copies.cu"
#undef histogram
}
namespace model {
#define histogram histogram_model
#include "solutions/05-atomics-reduction/histogram.cu"
#undef histogram
}
int main(int argc, char **argv) {
    const bool large = argc > 1 && !strcmp(argv[1], "large"), timing = argc > 2;
    const int n = large ? 16777219 : 500003;
    buffers.reserve(16);
    int *bins = make<int>("bins", 256, true, [&](size_t i) { (void)i; return 0; });
    unsigned char *data = make<unsigned char>("data", n, false, [&](size_t i) { (void)i; return R(0, 255) < 230 ? 200 : R(0, 255); });
    return run_all({
        {"sk:skeleton", [&] { sk::histogram_sk(bins, data, n); }},
        {"s1:1-global", [&] { s1::histogram_s1(bins, data, n); }},
        {"s2:2-shared", [&] { s2::histogram_s2(bins, data, n); }},
        {"s3:3-runs", [&] { s3::histogram_s3(bins, data, n); }},
        {"s4:4-eight-copies", [&] { s4::histogram_s4(bins, data, n); }},
        {"model:model", [&] { model::histogram_model(bins, data, n); }},
    }, timing);
}
