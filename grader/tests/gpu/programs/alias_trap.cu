#include "harness.h"
namespace sk {
#define alias_trap alias_trap_sk
#include "chapters/01-restrict/alias_trap.cu"
#undef alias_trap
}
namespace s1 {
#define alias_trap alias_trap_s1
#include "solutions/01-restrict/alias_trap-1-unqualified.cu"
#undef alias_trap
}
namespace s2 {
#define alias_trap alias_trap_s2
#include "solutions/01-restrict/alias_trap-2-local.cu"
#undef alias_trap
}
namespace s3 {
#define alias_trap alias_trap_s3
#include "solutions/01-restrict/alias_trap-3-promise.cu"
#undef alias_trap
}
namespace s4 {
#define alias_trap alias_trap_s4
#include "solutions/01-restrict/alias_trap-4-checked.cu"
#undef alias_trap
}
namespace model {
#define alias_trap alias_trap_model
#include "solutions/01-restrict/alias_trap.cu"
#undef alias_trap
}
int main(int argc, char **argv) {
    const bool large = argc > 1 && !strcmp(argv[1], "large"), timing = argc > 2;
    const int signals = large ? 65573 : 4099;
    const int length = large ? 64 : 37;
    buffers.reserve(16);
    float *level = make<float>("level", signals, true, [&](size_t i) { (void)i; return U(-1, 1); });
    float *x = make<float>("x", (size_t)signals * length, false, [&](size_t i) { (void)i; return U(-1, 1); });
    float *rate = make<float>("rate", signals, false, [&](size_t i) { (void)i; return U(0.1, 0.9); });
    return run_all({
        {"sk:skeleton", [&] { sk::alias_trap_sk(level, x, rate, signals, length); }},
        {"s1:1-unqualified", [&] { s1::alias_trap_s1(level, x, rate, signals, length); }},
        {"s2:2-local", [&] { s2::alias_trap_s2(level, x, rate, signals, length); }},
        {"s3:3-promise", [&] { s3::alias_trap_s3(level, x, rate, signals, length); }},
        {"s4:4-checked", [&] { s4::alias_trap_s4(level, x, rate, signals, length); }},
        {"model:model", [&] { model::alias_trap_model(level, x, rate, signals, length); }},
    }, timing);
}
