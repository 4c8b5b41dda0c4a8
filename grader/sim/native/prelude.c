/* prelude.c — the text of prelude.h, as the Makefile preprocesses it. */
#include "grader/sim/native/generate.h"

__asm__(".section .rodata\n"
        ".global native_prelude, native_prelude_end\n"
        ".hidden native_prelude, native_prelude_end\n"
        "native_prelude:\n"
        ".incbin \"" NATIVE_PRELUDE "\"\n"
        "native_prelude_end:\n"
        ".byte 0\n"
        ".previous\n");
