#include "harness.h"
namespace sk {
#define reduce_addressing reduce_addressing_sk
#include "chapters/04-bank-conflicts/reduce_addressing.cu"
#undef reduce_addressing
}
namespace s1 {
#define reduce_addressing reduce_addressing_s1
#include "solutions/04-bank-conflicts/reduce_addressing-1-modulo.cu"
#undef reduce_addressing
}
namespace s2 {
#define reduce_addressing reduce_addressing_s2
#include "solutions/04-bank-conflicts/reduce_addressing-2-strided.cu"
#undef reduce_addressing
}
namespace s3 {
#define reduce_addressing reduce_addressing_s3
#include "solutions/04-bank-conflicts/reduce_addressing-3-sequential.cu"
#undef reduce_addressing
}
namespace s4 {
#define reduce_addressing reduce_addressing_s4
#include "solutions/04-bank-conflicts/reduce_addressing-4-shuffle.cu"
#undef reduce_addressing
}
namespace model {
#define reduce_addressing reduce_addressing_model
#include "solutions/04-bank-conflicts/reduce_addressing.cu"
#undef reduce_addressing
}
int main(int argc, char **argv) {
    const bool large = argc > 1 && !strcmp(argv[1], "large"), timing = argc > 2;
    const int n = large ? 4194307 : 300003;
    buffers.reserve(16);
    int *sums = make<int>("sums", ((size_t)n + 255) / 256, true, [&](size_t i) { (void)i; return 0; });
    int *in = make<int>("in", n, false, [&](size_t i) { (void)i; return R(-1000000, 1000000); });
    return run_all({
        {"sk:skeleton", [&] { sk::reduce_addressing_sk(sums, in, n); }},
        {"s1:1-modulo", [&] { s1::reduce_addressing_s1(sums, in, n); }},
        {"s2:2-strided", [&] { s2::reduce_addressing_s2(sums, in, n); }},
        {"s3:3-sequential", [&] { s3::reduce_addressing_s3(sums, in, n); }},
        {"s4:4-shuffle", [&] { s4::reduce_addressing_s4(sums, in, n); }},
        {"model:model", [&] { model::reduce_addressing_model(sums, in, n); }},
    }, timing);
}
