/* fuzz.h — a fuzz target is written FUZZ(name) { … } over `data` and `size`, and stands in
 * targets.def. `make fuzz` builds each with libFuzzer and runs it, from corpus/NAME, for FUZZ_S
 * seconds; the unit suite `fuzz` feeds it the corpus alone. What must not happen ends in a trap. */
#pragma once
#include <stddef.h>
#include <stdint.h>

#ifdef FUZZING
#define FUZZ(name)                                                \
    int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size); \
    int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
#else
#define FUZZ(name)                                     \
    int fuzz_##name(const uint8_t *data, size_t size); \
    int fuzz_##name(const uint8_t *data, size_t size)
#endif
