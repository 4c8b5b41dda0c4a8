/* exec_float.c — the lane functions of floating-point arithmetic and of conversions. */
#include "grader/sim/insn/exec_opcodes.h"
#include "grader/sim/insn/exec_half.h"
#include "grader/sim/insn/exec_mufu.h"
#include "grader/sim/insn/opcodes_float.def"
#include "grader/sim/insn/opcodes_convert.def"
