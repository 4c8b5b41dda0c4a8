/* fuzz_ptx.c — fuzzes the PTX parser with any bytes: it must return a consistent module or an
 * error. */
#include "grader/tests/fuzz/fuzz.h"
#include "grader/tests/fuzz/mutate.h"
#include "grader/tests/ptx/invariants.h"

FUZZ(ptx) {
    if (!ptx_text_holds((const char *)data, size)) __builtin_trap();
    return 0;
}

#ifdef FUZZING
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned seed) {
    return mutate_ptx(data, size, max, seed);
}
#endif
