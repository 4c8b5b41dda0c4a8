/* lanes_half.c — the lane functions of 16-bit floating point. */
#include "grader/sim/insn/lanes_rows.h"
#include "grader/sim/insn/lanes_approx.h"
#include "grader/sim/insn/rows_half.def"
