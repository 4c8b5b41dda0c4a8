#include "harness.h"
namespace sk {
#define launch_bounds launch_bounds_sk
#include "chapters/06-occupancy/launch_bounds.cu"
#undef launch_bounds
}
namespace s1 {
#define launch_bounds launch_bounds_s1
#include "solutions/06-occupancy/launch_bounds-1-no-bound.cu"
#undef launch_bounds
}
namespace s2 {
#define launch_bounds launch_bounds_s2
#include "solutions/06-occupancy/launch_bounds-2-eight-blocks.cu"
#undef launch_bounds
}
namespace model {
#define launch_bounds launch_bounds_model
#include "solutions/06-occupancy/launch_bounds.cu"
#undef launch_bounds
}
int main(int argc, char **argv) {
    const bool large = argc > 1 && !strcmp(argv[1], "large"), timing = argc > 2;
    const int signals = large ? 540672 : 8195;
    const int length = large ? 16 : 11;
    buffers.reserve(16);
    float *out = make<float>("out", (size_t)signals * 48, true, [&](size_t i) { (void)i; return 0; });
    float *in = make<float>("in", (size_t)signals * length, false, [&](size_t i) { (void)i; return U(-1, 1); });
    float *gain = make<float>("gain", (size_t)length * 48, false, [&](size_t i) { (void)i; return U(-1, 1); });
    return run_all({
        {"sk:skeleton", [&] { sk::launch_bounds_sk(out, in, gain, signals, length); }},
        {"s1:1-no-bound", [&] { s1::launch_bounds_s1(out, in, gain, signals, length); }},
        {"s2:2-eight-blocks", [&] { s2::launch_bounds_s2(out, in, gain, signals, length); }},
        {"model:model", [&] { model::launch_bounds_model(out, in, gain, signals, length); }},
    }, timing);
}
