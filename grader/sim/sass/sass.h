/* sass.h — the machine code that ptxas generated, from a listing by NVIDIA's disassembler: bounded
 * records, one for each instruction. The time model reads them.
 *
 * The listing is the output of `nvdisasm -c -gp -hex` for a cubin made with `ptxas -lineinfo`. -gp
 * gives each instruction's line in the PTX text, which ties it to what the simulator executes; -hex
 * gives the encoding, whose upper bits say how the hardware issues the instruction. Since compute
 * capability 7.0 these are, from bit 105 of 128 on: 4 bits of clocks until the warp's next
 * instruction, a yield hint, 3 bits for the barrier (0 to 5; 7 = none) that a result of variable
 * latency releases, 3 for the one that reading the operands releases, and 6 for the barriers to
 * wait for (Jia and others, "Dissecting the NVIDIA Volta GPU Architecture via Microbenchmarking",
 * 2018, arXiv 1804.06826). */
#pragma once
#include "common/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* VARIABLE_LATENCY: reads of special registers and exchanges with the uniform datapath. */
enum sass_unit {
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

/* The bits of sass_insn.flags. */
enum {
    SASS_BLOCK_START = 1,     /* begins a basic block */
    SASS_FUNCTION_START = 2,  /* begins a function */
    SASS_INTERNAL = 4,        /* in a function that ptxas adds, such as a division's rare cases */
    SASS_BRANCH = 8,          /* jumps to `target` */
    SASS_NO_FALLTHROUGH = 16, /* the next one can't follow: EXIT, RET, unconditional jumps */
    SASS_CALLS_INTERNAL = 32, /* calls a function that ptxas adds */
    SASS_GUARDED = 64         /* has a predicate */
};
/* How control leaves an instruction, and where the lanes of a warp meet again: SPLIT names a
 * barrier for the lanes that may part, which wait for each other at JOIN. */
enum sass_flow {
    SASS_FLOW_NEXT, /* to the next one, or as SASS_BRANCH says */
    SASS_FLOW_EXIT,
    SASS_FLOW_CALL, /* to the function at `target`; to the next one if that is unknown */
    SASS_FLOW_RETURN,
    SASS_FLOW_SPLIT,
    SASS_FLOW_JOIN,
    SASS_FLOW_CONVERGE, /* waits for all lanes: barriers of the warp or block */
    SASS_FLOW_COUNT
};
enum { SASS_JOIN_COUNT = 16 };
enum { SASS_BARRIER_COUNT = 6, SASS_NO_BARRIER = 7, SASS_MAX_INSNS = 1 << 17 };
#define SASS_NO_TARGET UINT32_MAX

struct sass_insn {
    uint32_t line;   /* in the PTX text; 0 = unknown */
    uint32_t target; /* index of the jump target; SASS_NO_TARGET = none or unknown */
    /* For an access to local memory through R1: the offset behind it; else 0. */
    uint32_t local_frame_end;
    uint8_t unit, space, verb, flags;
    /* stall_cycles in clocks; the barriers' numbers; a mask of barriers. */
    uint8_t stall_cycles, write_barrier, read_barrier, wait_mask;
    uint8_t bank_conflicts; /* cycles that reading its registers takes longer than one */
    uint8_t flow, join;     /* enum sass_flow; the number of SPLIT's and JOIN's barrier */
};

/* Parses a listing; drops the padding that ptxas appends. Returns false, with *out NULL, if the
 * text is no such listing or too long. The caller frees *out. */
bool sass_parse(const char *text, size_t size, struct sass_insn **out, uint32_t *n, struct err *e);
/* Returns true if every field of records from outside is within its bounds. */
bool sass_valid(const struct sass_insn *code, uint32_t n);
