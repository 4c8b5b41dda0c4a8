/* tools.h — the simgpu commands that show the instruction table and decoded code. Both return an
 * exit status. */
#pragma once
#include "common/buf.h"
#include "grader/sim/sim.h"

int coverage_main(int argc, char **argv);
int disasm_main(int argc, char **argv);
/* Returns true if a kernel with only this instruction loads; otherwise `e` holds the reason. */
bool coverage_supports(struct sim *s, const char *opcode, struct err *e);
void coverage_markdown(struct buf *out);
