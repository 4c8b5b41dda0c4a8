/* fuzz_fatbin.c — fuzzes the fat binary reader with any bytes, and the PTX parser with its
 * output. */
#include "grader/tests/fuzz/fuzz.h"
#include "grader/tests/fuzz/mutate.h"
#include "grader/tests/ptx/invariants.h"

FUZZ(fatbin) {
    struct arena a = {0};
    struct err e = {0};
    size_t bytes = 0;
    const char *text = ptx_from_fatbin(&a, data, size, 90, &bytes, &e);
    if (!text == (e.kind == ERR_NONE)) __builtin_trap();
    if (text && !ptx_text_holds(text, bytes)) __builtin_trap();
    arena_free(&a);
    return 0;
}

#ifdef FUZZING
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned seed) {
    return mutate_fatbin(data, size, max, seed);
}
#endif
