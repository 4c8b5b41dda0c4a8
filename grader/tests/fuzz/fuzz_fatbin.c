/* fuzz_fatbin.c — any bytes as a fat binary, and what comes out as PTX. With libFuzzer:
 *
 *   clang -g -O1 -fsanitize=fuzzer,address,undefined -D_GNU_SOURCE -I. grader/tests/fuzz/fuzz_fatbin.c \
 *       grader/sim/ptx/[a-z]*.c common/arena.c common/err.c -lzstd -llz4 -o build/fuzz_fatbin
 *   mkdir -p build/corpus-fatbin && build/fuzz_fatbin -max_total_time=300 build/corpus-fatbin
 * grader/tests/ptx */
#include "grader/tests/ptx/invariants.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n) {
    struct arena a = {0};
    struct err e = {0};
    size_t bytes = 0;
    const char *text = ptx_from_fatbin(&a, data, n, 90, &bytes, &e);
    if (!text == (e.kind == ERR_NONE)) __builtin_trap();
    if (text && !ptx_text_holds(text, bytes)) __builtin_trap();
    arena_free(&a);
    return 0;
}
