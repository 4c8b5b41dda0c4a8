/* native.h — the second tier of execution: hot kernels as native code. launch.c calls it.
 *
 * Theory of operation. generate.c writes C for the segments and loops of a kernel (core.h),
 * compile.c has the host's C compiler make a shared object of it and loads that. The interpreter
 * calls a segment's function in place of its ops; control instructions, counting of segments,
 * barriers and splits stay with it.
 *
 * A segment is divided into *chunks* of regular instructions and loads. A chunk first computes what
 * its loads need and checks, without any effect, that they are as simple as they were before: the
 * access pattern is the last one, addresses lie in one allocation, bytes are initialized. If a
 * check fails, the interpreter runs the chunk. Otherwise the chunk counts its loads and runs one
 * loop over the 32 lanes, in which the compiler keeps registers of the warp in vector registers.
 * All else (stores, atomics, instructions with a lane function of their own) is a call of the
 * interpreter's function, in order. So reports of accesses come from the interpreter alone. Loads
 * of shared memory whose patterns stay as they were are counted once for many runs: repeat.c.
 *
 * An innermost loop also becomes one function, if its segments end in branches and all of its ops
 * are regular or access memory. It runs whole warps and keeps what the frame holds in local
 * variables: a register is a scalar if all lanes have the same value, or the same offsets from the
 * first lane as at the loop's entry; else it is an array of 32 lanes. Chunks check and do their
 * loads as above; what is known of a load's pattern holds until the interpreter runs its chunk, and
 * counts are added when the function ends. Where the interpreter must run an op, the registers that
 * it reads go to the frame, and those that it writes come back.
 *
 * A *region* becomes a function in the same way: segments outside of loops, from the kernel's
 * begin, a loop's end or a barrier on, as far as no loop begins. It runs once, so its loads are
 * counted at once. Loops and regions also have stores as chunks of their own, checked like loads.
 * The registers of a warp that exits as a whole stay in local variables.
 *
 * Lanes that a branch parts run within the function where they meet again in the same iteration,
 * and nothing in between accesses memory: each segment runs in the order of the code, for the lanes
 * that came to it, as the core's splits do. Anything else that a branch does is left to the core:
 * the function writes the registers back, adds its counts and returns before that op. It also does
 * so at the branch backwards where the core would look at timeslice, budget or endless loops. */
#pragma once
#include "grader/sim/code/code.h"

/* ---- for launch.c ---- */

/* Has a kernel compiled, or takes its object from the cache, and makes the functions the module's.
 * Waits for the compiler. Returns false, with the error set, if that fails or the kernel is too
 * long; a reason that concerns all kernels is an error only once in this process. */
bool native_compile(struct sim_module *m, const struct sim_func *f, struct err *e);
/* background.c: does the same in the background if a kernel is worth it that has executed `done`
 * warp instructions, and is likely to execute `left` in the running launch. Any thread may call
 * it, as often as it likes. */
void native_consider(struct sim_module *m, const struct sim_func *f, u64 done, u64 left);
/* Frees what was loaded for the module, and ends what is being compiled for it. */
void native_unload(struct sim_module *m);

/* ---- between compile.c and background.c ---- */

/* What one object added to a module. */
struct native_object {
    void *object;
    struct native_code *code; /* by segment: of this object and those before it */
    struct native_object *next;
};
struct native_run;
/* Does what native_compile does. !may_compile: only if the cache has the object. */
bool native_make(struct native_run *run, struct sim_module *m, const struct sim_func *f,
                 bool may_compile, struct err *e);
/* Drops the module's jobs, and waits for the one that runs. */
void native_cancel(const struct sim_module *m);
