/* fuzz_sass.c — fuzzes the reader of disassembler listings with any text: it must refuse it or
 * return consistent records. */
#include "grader/sim/sass/sass.h"
#include "grader/tests/fuzz/fuzz.h"

#include <stdlib.h>

FUZZ(sass) {
    struct sass_insn *code;
    struct err e = {0};
    uint32_t n;
    bool ok = sass_parse((const char *)data, size, &code, &n, &e);
    if (ok != (e.kind == ERR_NONE) || ok != (code != NULL)) __builtin_trap();
    if (ok && (!n || n > size / 4 || !sass_valid(code, n))) __builtin_trap();
    free(code);
    return 0;
}
