/* exec_half.c — the lane functions of 16-bit floating point. Their expressions are long: compiled
 * once for full warps and once for others, they took a sixth of the whole build's time. */
#define HAS_COSTLY_EXPRESSIONS
#include "grader/sim/insn/exec_opcodes.h"
#include "grader/sim/insn/exec_half.h"
#include "grader/sim/insn/exec_mufu.h"
#include "grader/sim/insn/opcodes_half.def"
