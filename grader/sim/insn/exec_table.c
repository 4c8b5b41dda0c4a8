/* exec_table.c — the table of all lane functions, indexed by opcode. lanes_default_table
 * (opcode_table.c) chooses among these tables. After the opcodes come the LANE_… functions. */
#include "grader/sim/core/repeated_loads.h"
#include "grader/sim/insn/exec.h"

#define R1(id, ...)  ISAFN(op_##id),
#define R2(id, ...)  ISAFN(op_##id),
#define R3(id, ...)  ISAFN(op_##id),
#define R4(id, ...)  ISAFN(op_##id),
#define RP(id, ...)  ISAFN(op_##id),
#define RP2(id, ...) ISAFN(op_##id),
#define RT(id, ...)  ISAFN(op_##id),
#define RM(id, ...)  ISAFN(op_##id),
#define RS(id, ...)  ISAFN(op_##id),
#define RC(id, ...)  ISAFN(op_##id),
#define RL(id, ...)  ISAFN(op_##id),
#define RX(id, ...)  NULL,
#define RD(id, ...)  NULL,
op_fn *const ISAFN(lane_functions)[] = {
#include "grader/sim/insn/opcodes.def"
    (op_fn *)(void (*)(void))ISAFN(race_global_access),
    (op_fn *)(void (*)(void))ISAFN(race_shared_access),
    (op_fn *)(void (*)(void))ISAFN(race_shared_reads),
    (op_fn *)(void (*)(void))core_remember_loads,
};
