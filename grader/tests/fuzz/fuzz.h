/* fuzz.h — a fuzz target is FUZZ(name) { … } over `data` and `size`, with a row in targets.def.
 * `make fuzz` builds each with libFuzzer and runs it, from corpus/NAME, for FUZZ_S seconds; the
 * unit suite `fuzz` runs it on the corpus alone. A broken invariant ends in a trap. */
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
