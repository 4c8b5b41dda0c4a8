/* race.h — what is noted of accesses to find races, and who reports them.
 *
 *   watch.c         the allocations that a launch may change: no others are looked at
 *   interval.c      time: intervals between barriers, ticks
 *   lanes_shared.c  shared memory: stamps of the last write and the last reads
 *   cluster.c       shared memory of other blocks of a cluster
 *   lanes_global.c  global memory, blocks in any order on several workers
 *   order.c         global memory, kernels whose blocks run in order on one worker
 *   race.c          the notes' planes; races between blocks at the end of a launch; the texts */
#pragma once
#include "grader/sim/core/core.h"

/* Who a shared-memory stamp stands for. */
enum { RACE_ONE, RACE_LANES /* of one warp */, RACE_WARPS, RACE_ATOMIC_ONE, RACE_ATOMIC_LANES, RACE_ATOMIC_WARPS };
enum {
    RACE_INTERVALS = 1 << 13,     /* of a block that stamps can tell */
    RACE_WARP_INTERVALS = 1 << 6, /* likewise of a warp */
    RACE_MANY_BLOCKS = 0xffff,
    RACE_SAME_VALUE = 0xfffe /* many wrote, all the same */
};

struct race_range {
    u64 low, high;
}; /* offsets from SIM_BASE */

/* Notes of global memory by granule, (address - SIM_BASE) >> global_shift, of the blocks that one worker ran. By block:
 * none (0), one (1 + its number), or many. By tick: when and in which warp, for races within a block: bits 0-4 warp · 5
 * several warps · 6-31 the worker's tick, which goes on at each barrier and each block */
struct race_plane {
    u16 *write, *read, *update; /* blocks that wrote, that read, that updated by atomics or strong stores */
    u16 *value;                 /* a hash of what was written last */
    u32 *wrote, *was_read, *updated;
    u32 tick;
    bool updates;               /* the kernel has such: else `update` and `updated` say nothing */
    bool reads;                 /* a read was noted in this launch: else `was_read` says nothing */
    u32 raced;                  /* a race between this worker's blocks */
    struct race_range range;    /* touched in this launch */
    struct race_range *touched; /* the same by memory instruction */
};
enum { RACE_TICK = 1 << 6, RACE_MANY_WARPS = 1 << 5, RACE_TICKS = 1 << 26 };

/* One instruction's access: lane l at offset base + rel[l] of shared memory, or from SIM_BASE. */
struct touch {
    const struct op *o;
    u64 base;
    const s32 *rel;
    u32 mask, span;
    enum race_access access;
    u32 twins; /* lanes that share their address with others */
};

static inline u16 race_block(const struct block *b) { return (u16)(1 + b->linear % (RACE_SAME_VALUE - 1)); }
static inline u32 race_stamp(const struct block *b, const struct warp *w) {
    return b->plane->tick * RACE_TICK | w->index;
}

/* interval.c */
extern const struct race_hooks race_hooks;
void race_next_interval(struct block *b, const struct launch *l); /* nothing where races are not looked for */
u32 race_next_tick(struct block *b, const struct launch *l);

/* watch.c: marks the allocations that the launch may change. */
void race_watch(const struct launch *l);

/* race.c */
bool race_open(struct launch *l);
void race_report(struct launch *l, struct sim_result *out);
void race_close(struct launch *l);
void race_free(struct sim *s);
void race_forget_ticks(struct race_plane *p, const struct launch *l);
/* Whether a store leaves the granule as memory, or an earlier lane of the same store, has it. */
bool race_changes_nothing(const struct exec *x, const struct touch *t, u32 lane, u64 granule, u32 shift,
                          const u8 *memory);
/* The stores of lanes that may race within the block, looked at one by one, and their notes by tick. */
void race_stores(struct exec *x, const struct touch *t);
/* Lanes of one store that leave different values in one place. */
void race_lanes(struct exec *x, const struct touch *t);
/* A load or atomic that does race within the block. */
void race_in_block(struct exec *x, const struct touch *t);
/* "block (1,0,0)", where the number in a note still says which. */
void race_block_name(const struct launch *l, u16 note, char *out, size_t size);

/* cluster.c: a lane's access to shared memory of a block of its cluster, which may be its own. */
void race_cluster(struct exec *x, struct block *target, const struct op *o, u32 lane, u64 offset, u32 span,
                  enum race_access access);

/* order.c: an access, or an atomic of one lane whose result is used. */
void race_ordered(struct exec *x, const struct touch *t);
void race_ordered_exchange(struct exec *x, u64 address, u32 width, bool changed);
