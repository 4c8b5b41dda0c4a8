/* exec.h — the lane functions, one for each opcode, and what the functions for memory share. */
#pragma once
#include "grader/sim/core/lanes.h"
#include "grader/sim/race/exec_race.h"

#define R1(id, ...)  op_fn ISAFN(op_##id);
#define R2(id, ...)  op_fn ISAFN(op_##id);
#define R3(id, ...)  op_fn ISAFN(op_##id);
#define R4(id, ...)  op_fn ISAFN(op_##id);
#define RP(id, ...)  op_fn ISAFN(op_##id);
#define RP2(id, ...) op_fn ISAFN(op_##id);
#define RT(id, ...)  op_fn ISAFN(op_##id);
#define RM(id, ...)  op_fn ISAFN(op_##id);
#define RS(id, ...)  op_fn ISAFN(op_##id);
#define RC(id, ...)  op_fn ISAFN(op_##id);
#define RL(id, ...)  op_fn ISAFN(op_##id);
#define RX(id, ...)
#define RD(id, ...)
#include "grader/sim/insn/opcodes.def"
#undef R1
#undef R2
#undef R3
#undef R4
#undef RP
#undef RP2
#undef RT
#undef RM
#undef RS
#undef RC
#undef RL
#undef RX
#undef RD
extern op_fn *const ISAFN(lane_functions)[];

/* exec_atom.c: returns what an atomic on global memory stores, by d->atom and d->type. */
u64 ISAFN(lane_atom_value)(const struct mem_desc *d, u64 old, u64 b);

/* exec_matrix.c: returns true if all lanes of the warp take part; else reports a fault. */
bool ISAFN(lane_require_full_warp)(struct exec *x, const struct op *o, u32 mask);

/* exec_mem.c: computes the addresses of all lanes. */
void ISAFN(lane_addresses)(const struct exec *x, const struct op *o, const struct mem_desc *d,
                           u64 ea[32]);

/* exec_mem_global.c, exec_mem_shared.c, for atomics: return true if the lane may access the
 * address; else report a fault. */
bool ISAFN(lane_may_access_global)(struct exec *x, const struct op *o, const struct mem_desc *d,
                                   unsigned lane, u64 address);
bool ISAFN(lane_may_access_shared)(struct exec *x, const struct op *o, const struct mem_desc *d,
                                   unsigned lane, u64 offset);
/* exec_cluster.c. lane_cluster_pointer checks and records a lane's access to another block of the
 * cluster and returns where it goes, or NULL after a report. lane_split_remote returns the lanes
 * whose addresses lead to other blocks, and makes the others' offsets in the block's own memory. */
unsigned char *ISAFN(lane_cluster_pointer)(struct exec *x, const struct op *o,
                                           const struct mem_desc *d, u32 lane, u64 address);
void ISAFN(lane_count_cluster)(struct exec *x, u32 stat, const u64 *ea, u32 mask, u32 span);
u32 ISAFN(lane_split_remote)(const struct exec *x, u64 ea[32], u32 mask);
/* Count an atomic; return true if all lanes' accesses are checked and recorded, so that none needs
 * check_lane_access. */
bool ISAFN(lane_count_atomic_global)(struct exec *x, const struct op *o, const struct mem_desc *d,
                                     u32 stat, const u64 ea[32], u32 mask);
bool ISAFN(lane_count_atomic_shared)(struct exec *x, const struct op *o, const struct mem_desc *d,
                                     u32 stat, const u64 ea[32], u32 mask);
