/* tools.h — the simgpu commands `coverage` (which PTX instructions the simulator supports) and
 * `disasm` (decoded code). main.c calls the two `_main` functions, which return an exit status; the
 * unit tests call the others. */
#pragma once
#include "common/buf.h"
#include "grader/sim/sim.h"

/* The commands `coverage` and `disasm` of simgpu; they return the exit status. */
int coverage_main(int argc, char **argv);
int disasm_main(int argc, char **argv);
/* The command that `run` starts to compile native code in a sandbox (compile_native.c). */
int compile_native_main(int argc, char **argv);
/* Returns true if the simulator accepts a kernel that consists of this one instruction; otherwise
 * `e` holds the reason. */
bool coverage_supports(struct sim *s, const char *opcode, struct err *e);
/* Appends docs/ptx-coverage.md. */
void coverage_markdown(struct buf *out);
