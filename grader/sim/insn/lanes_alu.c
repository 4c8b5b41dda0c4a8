/* lanes_alu.c — the lane functions of integer arithmetic, logic, comparison and selection. */
#include "grader/sim/insn/lanes_rows.h"
#include "grader/sim/insn/rows_integer.def"
#include "grader/sim/insn/rows_bits.def"
#include "grader/sim/insn/rows_logic.def"
#include "grader/sim/insn/rows_compare.def"
