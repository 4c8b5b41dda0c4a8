/* exec_alu.c — the lane functions of integer arithmetic, logic, comparison and selection. */
#include "grader/sim/insn/exec_opcodes.h"
#include "grader/sim/insn/opcodes_integer.def"
#include "grader/sim/insn/opcodes_bits.def"
#include "grader/sim/insn/opcodes_logic.def"
#include "grader/sim/insn/opcodes_compare.def"
