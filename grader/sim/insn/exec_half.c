/* exec_half.c — the lane functions of 16-bit floating point. */
#include "grader/sim/insn/exec_opcodes.h"
#include "grader/sim/insn/exec_half.h"
#include "grader/sim/insn/exec_mufu.h"
#include "grader/sim/insn/opcodes_half.def"
