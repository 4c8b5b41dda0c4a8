#include "harness.h"
namespace sk {
#define local_array local_array_sk
#include "chapters/06-occupancy/local_array.cu"
#undef local_array
}
namespace s1 {
#define local_array local_array_s1
#include "solutions/06-occupancy/local_array-1-insertion.cu"
#undef local_array
}
namespace s2 {
#define local_array local_array_s2
#include "solutions/06-occupancy/local_array-2-shared.cu"
#undef local_array
}
namespace s3 {
#define local_array local_array_s3
#include "solutions/06-occupancy/local_array-3-network.cu"
#undef local_array
}
namespace model {
#define local_array local_array_model
#include "solutions/06-occupancy/local_array.cu"
#undef local_array
}
int main(int argc, char **argv) {
    const bool large = argc > 1 && !strcmp(argv[1], "large"), timing = argc > 2;
    const int n = large ? 4194307 : 100003;
    buffers.reserve(16);
    int *out = make<int>("out", n, true, [&](size_t i) { (void)i; return 0; });
    int *in = make<int>("in", n, false, [&](size_t i) { (void)i; return R(0, 19) ? R(-20, 20) : R(0, 1) ? INT_MAX : INT_MIN; });
    return run_all({
        {"sk:skeleton", [&] { sk::local_array_sk(out, in, n); }},
        {"s1:1-insertion", [&] { s1::local_array_s1(out, in, n); }},
        {"s2:2-shared", [&] { s2::local_array_s2(out, in, n); }},
        {"s3:3-network", [&] { s3::local_array_s3(out, in, n); }},
        {"model:model", [&] { model::local_array_model(out, in, n); }},
    }, timing);
}
