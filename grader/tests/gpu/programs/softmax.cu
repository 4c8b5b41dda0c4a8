#include "harness.h"
namespace sk {
#define softmax softmax_sk
#include "chapters/07-fusion/softmax.cu"
#undef softmax
}
namespace s1 {
#define softmax softmax_s1
#include "solutions/07-fusion/softmax-1-three-kernels.cu"
#undef softmax
}
namespace s2 {
#define softmax softmax_s2
#include "solutions/07-fusion/softmax-2-one-kernel.cu"
#undef softmax
}
namespace s3 {
#define softmax softmax_s3
#include "solutions/07-fusion/softmax-3-online.cu"
#undef softmax
}
namespace model {
#define softmax softmax_model
#include "solutions/07-fusion/softmax.cu"
#undef softmax
}
int main(int argc, char **argv) {
    const bool large = argc > 1 && !strcmp(argv[1], "large"), timing = argc > 2;
    const int rows = large ? 4097 : 101;
    const int cols = large ? 1021 : 1003;
    buffers.reserve(16);
    float *out = make<float>("out", (size_t)rows * cols, true, [&](size_t i) { (void)i; return 0; });
    float *in = make<float>("in", (size_t)rows * cols, false, [&](size_t i) { (void)i; return U(-5, 5); });
    return run_all({
        {"sk:skeleton", [&] { sk::softmax_sk(out, in, rows, cols); }},
        {"s1:1-three-kernels", [&] { s1::softmax_s1(out, in, rows, cols); }},
        {"s2:2-one-kernel", [&] { s2::softmax_s2(out, in, rows, cols); }},
        {"s3:3-online", [&] { s3::softmax_s3(out, in, rows, cols); }},
        {"model:model", [&] { model::softmax_model(out, in, rows, cols); }},
    }, timing);
}
