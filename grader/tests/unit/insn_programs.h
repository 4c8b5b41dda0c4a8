/* insn_programs.h — small kernels for the instructions that are more than a function of their
 * operands.
 *
 * A program is the body of a kernel. Before it, %r0 holds the thread's number, %q0 the address of
 * the thread's eight words of output, %q1 that of 4096 zero bytes in global memory; `s` names 4096
 * bytes of shared memory, `l` 256 of local memory, 0x240000000040 a texture and 0x240000000080 a
 * surface, %q1's bytes as 32 rows of 32 floats; `table` 16 words 0, 10, 20 … of constant memory.
 * Registers: %p %h %r %q %f %d %o, 32 of each. What it leaves in the first `words` words of each
 * thread must be want(thread, word). */
#pragma once
#include "grader/sim/code/insn.h"
#include "grader/sim/sim.h"

struct insn_program {
    const char *name, *body;
    unsigned threads, words;
    u64 (*expected)(unsigned t, unsigned w);
    enum sim_fault fault; /* what ends it, SIM_FAULT_NONE if nothing */
};

/* Ends with an entry whose name is NULL. */
extern const struct insn_program memory_programs[], control_programs[], warp_programs[],
    async_programs[];

/* Runs all of them, fails the test that calls it where a result is wrong. */
void insn_programs_run(void);
