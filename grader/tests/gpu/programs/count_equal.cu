#include "harness.h"
namespace sk {
#define count_equal count_equal_sk
#include "chapters/05-atomics-reduction/count_equal.cu"
#undef count_equal
}
namespace s1 {
#define count_equal count_equal_s1
#include "solutions/05-atomics-reduction/count_equal-1-global.cu"
#undef count_equal
}
namespace s2 {
#define count_equal count_equal_s2
#include "solutions/05-atomics-reduction/count_equal-2-block.cu"
#undef count_equal
}
namespace s3 {
#define count_equal count_equal_s3
#include "solutions/05-atomics-reduction/count_equal-3-vote.cu"
#undef count_equal
}
namespace model {
#define count_equal count_equal_model
#include "solutions/05-atomics-reduction/count_equal.cu"
#undef count_equal
}
int main(int argc, char **argv) {
    const bool large = argc > 1 && !strcmp(argv[1], "large"), timing = argc > 2;
    const int n = large ? 16777219 : 500003;
    buffers.reserve(16);
    int *count = make<int>("count", 1, true, [&](size_t i) { (void)i; return 0; });
    int *data = make<int>("data", n, false, [&](size_t i) { (void)i; return R(4, 6); });
    return run_all({
        {"sk:skeleton", [&] { sk::count_equal_sk(count, data, 5, n); }},
        {"s1:1-global", [&] { s1::count_equal_s1(count, data, 5, n); }},
        {"s2:2-block", [&] { s2::count_equal_s2(count, data, 5, n); }},
        {"s3:3-vote", [&] { s3::count_equal_s3(count, data, 5, n); }},
        {"model:model", [&] { model::count_equal_model(count, data, 5, n); }},
    }, timing);
}
