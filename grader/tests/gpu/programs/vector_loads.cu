#include "harness.h"
namespace sk {
#define vector_loads vector_loads_sk
#include "chapters/02-coalescing/vector_loads.cu"
#undef vector_loads
}
namespace s1 {
#define vector_loads vector_loads_s1
#include "solutions/02-coalescing/vector_loads-1-single.cu"
#undef vector_loads
}
namespace s2 {
#define vector_loads vector_loads_s2
#include "solutions/02-coalescing/vector_loads-2-pairs.cu"
#undef vector_loads
}
namespace model {
#define vector_loads vector_loads_model
#include "solutions/02-coalescing/vector_loads.cu"
#undef vector_loads
}
int main(int argc, char **argv) {
    const bool large = argc > 1 && !strcmp(argv[1], "large"), timing = argc > 2;
    const int start = large ? 3 : 3;
    const int n = large ? 4194309 : 400005;
    buffers.reserve(16);
    float *out = make<float>("out", (size_t)start + n + 2, true, [&](size_t i) { (void)i; return U(-1, 1); });
    float *in = make<float>("in", (size_t)start + n + 2, false, [&](size_t i) { (void)i; return U(-1, 1); });
    return run_all({
        {"sk:skeleton", [&] { sk::vector_loads_sk(out, in, 1.5f, start, n); }},
        {"s1:1-single", [&] { s1::vector_loads_s1(out, in, 1.5f, start, n); }},
        {"s2:2-pairs", [&] { s2::vector_loads_s2(out, in, 1.5f, start, n); }},
        {"model:model", [&] { model::vector_loads_model(out, in, 1.5f, start, n); }},
    }, timing);
}
