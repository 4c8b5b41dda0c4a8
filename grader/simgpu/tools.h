/* tools.h — the simgpu verbs that show the instruction table and decoded code. Both return an exit
 * status. */
#pragma once
#include "common/buf.h"
#include "grader/sim/sim.h"

int coverage_main(int argc, char **argv);
int disasm_main(int argc, char **argv);
/* Whether a kernel that holds just this instruction loads; `e` says why not. */
bool coverage_supports(struct sim *s, const char *opcode, struct err *e);
void coverage_markdown(struct buf *out);
