/* lanes_half.c — the lane functions of 16-bit floating point. */
#include "grader/sim/insn/lanes_rows.h"
#include "grader/sim/insn/lanes_half.h"
#include "grader/sim/insn/lanes_mufu.h"
#include "grader/sim/insn/rows_half.def"
