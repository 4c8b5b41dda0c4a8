/* sass.h — the machine code that ptxas made, as NVIDIA's disassembler lists it: bounded records,
 * one an instruction.
 *
 * The listing is that of `nvdisasm -c -gp -hex` on a cubin that `ptxas -lineinfo` made. -gp gives
 * the line of the PTX text that each instruction was made from, which ties it to what the simulator
 * executes; -hex the encoding, whose last bits say how the hardware issues the instruction. Since
 * compute capability 7.0 these are, from bit 105 of 128 on: 4 bits of clocks to the warp's next
 * instruction, a hint to yield, 3 bits for the barrier (0 to 5; 7 = none) that a result of unknown
 * latency releases, 3 for the one that reading the operands releases, and 6 that say which barriers
 * to wait for (Jia and others, "Dissecting the NVIDIA Volta GPU Architecture via
 * Microbenchmarking", 2018, arXiv 1804.06826). */
#pragma once
#include "common/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum sass_unit { /* VARIABLE_LATENCY: reads of special registers and exchanges with the uniform
                    datapath, whose latency varies */
                 SASS_ALU,
                 SASS_IMAD,
                 SASS_FMA,
                 SASS_FP64,
                 SASS_XU,
                 SASS_LSU,
                 SASS_VARIABLE_LATENCY,
                 SASS_BARRIER,
                 SASS_CONTROL,
                 SASS_UNIFORM,
                 SASS_UNIT_COUNT
};
enum sass_space {
    SASS_NONE,
    SASS_GLOBAL,
    SASS_SHARED,
    SASS_LOCAL,
    SASS_CONST,
    SASS_GENERIC,
    SASS_ASYNC,
    SASS_SPACE_COUNT
};
enum sass_verb { SASS_NO_ACCESS, SASS_LOAD, SASS_STORE, SASS_ATOMIC, SASS_VERB_COUNT };

enum {                          /* flags */
       SASS_BLOCK_START = 1,    /* a function, or a stretch that a jump leads to, begins here */
       SASS_FUNCTION_START = 2, /* a function begins here */
       SASS_INTERNAL = 4, /* of a function that ptxas adds, such as the rare cases of a division */
       SASS_BRANCH = 8,   /* to `target` */
       SASS_NO_FALLTHROUGH =
           16, /* what follows does not follow on it: EXIT, RET, jumps that are always taken */
       SASS_CALLS_INTERNAL = 32, /* calls a function of ptxas' own */
       SASS_GUARDED = 64         /* has a predicate */
};
enum { SASS_BARRIER_COUNT = 6, SASS_NO_BARRIER = 7, SASS_MAX_INSNS = 1 << 17 };
#define SASS_NO_TARGET UINT32_MAX

struct sass_insn {
    uint32_t line;            /* of the PTX text; 0 = not known */
    uint32_t target;          /* where it jumps to, an index; SASS_NO_TARGET = not known, or none */
    uint32_t local_frame_end; /* of local memory, by register R1: offset of the byte behind the
                                 access; else 0 */
    uint8_t unit, space, verb, flags;
    uint8_t stall_cycles, write_barrier, read_barrier,
        wait_mask; /* clocks; barriers: numbers and a mask */
};

/* Instructions that ptxas appends as padding are left out. False: the text is no such listing, or
 * too long; *out is NULL then. */
bool sass_parse(const char *text, size_t size, struct sass_insn **out, uint32_t *n, struct err *e);
/* Of records that came from elsewhere: every field is within its bounds. */
bool sass_valid(const struct sass_insn *code, uint32_t n);
