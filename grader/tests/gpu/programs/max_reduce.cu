#include "harness.h"
namespace sk {
#define max_reduce max_reduce_sk
#include "chapters/05-atomics-reduction/max_reduce.cu"
#undef max_reduce
}
namespace s1 {
#define max_reduce max_reduce_s1
#include "solutions/05-atomics-reduction/max_reduce-1-atomics.cu"
#undef max_reduce
}
namespace s2 {
#define max_reduce max_reduce_s2
#include "solutions/05-atomics-reduction/max_reduce-2-two-kernels.cu"
#undef max_reduce
}
namespace model {
#define max_reduce max_reduce_model
#include "solutions/05-atomics-reduction/max_reduce.cu"
#undef max_reduce
}
int main(int argc, char **argv) {
    const bool large = argc > 1 && !strcmp(argv[1], "large"), timing = argc > 2;
    const int n = large ? 16777219 : 500003;
    buffers.reserve(16);
    float *out = make<float>("out", 1, true, [&](size_t i) { (void)i; return 0; });
    float *in = make<float>("in", n, false, [&](size_t i) { (void)i; return U(-100, 100); });
    return run_all({
        {"sk:skeleton", [&] { sk::max_reduce_sk(out, in, n); }},
        {"s1:1-atomics", [&] { s1::max_reduce_s1(out, in, n); }},
        {"s2:2-two-kernels", [&] { s2::max_reduce_s2(out, in, n); }},
        {"model:model", [&] { model::max_reduce_model(out, in, n); }},
    }, timing);
}
