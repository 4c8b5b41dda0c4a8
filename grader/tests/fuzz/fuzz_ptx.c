/* fuzz_ptx.c — any bytes as PTX text: a module that holds together, or an error. For a few minutes with
 * libFuzzer:
 *
 *   clang -g -O1 -fsanitize=fuzzer,address,undefined -D_GNU_SOURCE -I. grader/tests/fuzz/fuzz_ptx.c \
 *       grader/sim/ptx/[!f]*.c grader/sim/ptx/func.c common/arena.c common/err.c -o build/fuzz_ptx
 *   mkdir -p build/corpus && build/fuzz_ptx -max_total_time=300 build/corpus grader/tests/ptx */
#include "grader/tests/ptx/invariants.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n) {
    if (!ptx_text_holds((const char *)data, n)) __builtin_trap();
    return 0;
}
