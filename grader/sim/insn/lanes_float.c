/* lanes_float.c — the lane functions of floating-point arithmetic and of conversions. */
#include "grader/sim/insn/lanes_rows.h"
#include "grader/sim/insn/lanes_half.h"
#include "grader/sim/insn/lanes_mufu.h"
#include "grader/sim/insn/rows_float.def"
#include "grader/sim/insn/rows_convert.def"
