#include "harness.h"
namespace sk {
#define block_size block_size_sk
#include "chapters/06-occupancy/block_size.cu"
#undef block_size
}
namespace s1 {
#define block_size block_size_s1
#include "solutions/06-occupancy/block_size-1-blocks-of-32.cu"
#undef block_size
}
namespace s2 {
#define block_size block_size_s2
#include "solutions/06-occupancy/block_size-2-blocks-of-256.cu"
#undef block_size
}
namespace s3 {
#define block_size block_size_s3
#include "solutions/06-occupancy/block_size-3-most-warps.cu"
#undef block_size
}
namespace model {
#define block_size block_size_model
#include "solutions/06-occupancy/block_size.cu"
#undef block_size
}
int main(int argc, char **argv) {
    const bool large = argc > 1 && !strcmp(argv[1], "large"), timing = argc > 2;
    const int signals = large ? 532224 : 4099;
    const int length = large ? 41 : 53;
    buffers.reserve(16);
    float *out = make<float>("out", (size_t)signals * length, true, [&](size_t i) { (void)i; return 0; });
    float *in = make<float>("in", (size_t)signals * length, false, [&](size_t i) { (void)i; return U(-1, 1); });
    return run_all({
        {"sk:skeleton", [&] { sk::block_size_sk(out, in, signals, length); }},
        {"s1:1-blocks-of-32", [&] { s1::block_size_s1(out, in, signals, length); }},
        {"s2:2-blocks-of-256", [&] { s2::block_size_s2(out, in, signals, length); }},
        {"s3:3-most-warps", [&] { s3::block_size_s3(out, in, signals, length); }},
        {"model:model", [&] { model::block_size_model(out, in, signals, length); }},
    }, timing);
}
