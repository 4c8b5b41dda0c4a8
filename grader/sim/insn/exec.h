/* exec.h — the lane functions: one for each row, and what those for memory share. */
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

/* exec_atom.c: what an atomic on global memory leaves there, by d->atom and d->type. */
u64 ISAFN(lane_atom_value)(const struct mem_desc *d, u64 old, u64 b);

/* exec_matrix.c: false, with a report, where lanes of the warp are missing. */
bool ISAFN(lane_require_full_warp)(struct exec *x, const struct op *o, u32 mask);

/* exec_mem.c: the addresses of all lanes. */
void ISAFN(lane_addresses)(const struct exec *x, const struct op *o, const struct mem_desc *d,
                           u64 ea[32]);

/* exec_mem_global.c, exec_mem_shared.c, for atomics: whether one lane may access, reported if
 * not. */
bool ISAFN(lane_may_access_global)(struct exec *x, const struct op *o, const struct mem_desc *d,
                                   unsigned lane, u64 address);
bool ISAFN(lane_may_access_shared)(struct exec *x, const struct op *o, const struct mem_desc *d,
                                   unsigned lane, u64 offset);
/* exec_cluster.c: where a lane's access to another block of the cluster goes, allowed, seen to and
 * noted; NULL: reported. The lanes whose addresses lead to other blocks; those of the others become
 * offsets in the block's own memory. */
unsigned char *ISAFN(lane_cluster_pointer)(struct exec *x, const struct op *o,
                                           const struct mem_desc *d, u32 lane, u64 address);
void ISAFN(lane_count_cluster)(struct exec *x, u32 stat, const u64 *ea, u32 mask, u32 span);
u32 ISAFN(lane_split_remote)(const struct exec *x, u64 ea[32], u32 mask);
/* Counts an atomic; true if all lanes are allowed, seen to and noted, so that none needs
 * check_lane_access. */
bool ISAFN(lane_count_atomic_global)(struct exec *x, const struct op *o, const struct mem_desc *d,
                                     u32 stat, const u64 ea[32], u32 mask);
bool ISAFN(lane_count_atomic_shared)(struct exec *x, const struct op *o, const struct mem_desc *d,
                                     u32 stat, const u64 ea[32], u32 mask);
