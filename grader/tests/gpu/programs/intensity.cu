#include "harness.h"
namespace sk {
#define intensity intensity_sk
#include "chapters/00-roofline/intensity.cu"
#undef intensity
}
namespace s1 {
#define intensity intensity_s1
#include "solutions/00-roofline/intensity-1-counted.cu"
#undef intensity
}
namespace s2 {
#define intensity intensity_s2
#include "solutions/00-roofline/intensity-2-one-thread.cu"
#undef intensity
}
namespace model {
#define intensity intensity_model
#include "solutions/00-roofline/intensity.cu"
#undef intensity
}
int main(int argc, char **argv) {
    const bool large = argc > 1 && !strcmp(argv[1], "large"), timing = argc > 2;
    const int n = large ? 262147 : 100003;
    const int steps = large ? 64 : 16;
    buffers.reserve(16);
    double *answers = make<double>("answers", 9, true, [&](size_t i) { (void)i; return 0; });
    float *y = make<float>("y", 3 * (size_t)n, true, [&](size_t i) { (void)i; return 0; });
    float *x = make<float>("x", n, false, [&](size_t i) { (void)i; return U(-1, 1); });
    float *w = make<float>("w", n, false, [&](size_t i) { (void)i; return U(-1, 1); });
    return run_all({
        {"sk:skeleton", [&] { sk::intensity_sk(answers, y, x, w, n, steps, 67e12, 3.35e12); }},
        {"s1:1-counted", [&] { s1::intensity_s1(answers, y, x, w, n, steps, 67e12, 3.35e12); }},
        {"s2:2-one-thread", [&] { s2::intensity_s2(answers, y, x, w, n, steps, 67e12, 3.35e12); }},
        {"model:model", [&] { model::intensity_model(answers, y, x, w, n, steps, 67e12, 3.35e12); }},
    }, timing);
}
