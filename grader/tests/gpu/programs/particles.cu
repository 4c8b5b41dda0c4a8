#include "harness.h"
namespace sk {
#define particles particles_sk
#include "chapters/02-coalescing/particles.cu"
#undef particles
}
namespace s1 {
#define particles particles_s1
#include "solutions/02-coalescing/particles-1-structures.cu"
#undef particles
}
namespace s2 {
#define particles particles_s2
#include "solutions/02-coalescing/particles-2-arrays.cu"
#undef particles
}
namespace s3 {
#define particles particles_s3
#include "solutions/02-coalescing/particles-3-vectors.cu"
#undef particles
}
namespace model {
#define particles particles_model
#include "solutions/02-coalescing/particles.cu"
#undef particles
}
int main(int argc, char **argv) {
    const bool large = argc > 1 && !strcmp(argv[1], "large"), timing = argc > 2;
    const int n = large ? 524291 : 30011;
    const int steps = large ? 3 : 2;
    buffers.reserve(16);
    float *state = make<float>("state", (size_t)n * 16, true, [&](size_t i) { (void)i; return i % 16 == 4 ? U(1, 2) : U(-1, 1); });
    return run_all({
        {"sk:skeleton", [&] { sk::particles_sk(state, n, steps, 0.1f); }},
        {"s1:1-structures", [&] { s1::particles_s1(state, n, steps, 0.1f); }},
        {"s2:2-arrays", [&] { s2::particles_s2(state, n, steps, 0.1f); }},
        {"s3:3-vectors", [&] { s3::particles_s3(state, n, steps, 0.1f); }},
        {"model:model", [&] { model::particles_model(state, n, steps, 0.1f); }},
    }, timing);
}
