/* race.h — what is noted of accesses to find races, and who reports them.
 *
 *   watch.c         the allocations that a launch may change: no others are looked at
 *   interval.c      time: intervals between barriers, ticks
 *   lanes_shared.c  shared memory: stamps of the last write and the last reads
 *   cluster.c       shared memory of other blocks of a cluster
 *   lanes_global.c  global memory, blocks in any order on several workers
 *   order.c         global memory, kernels whose blocks run in order on one worker
 *   near.c          global memory, lanes of one warp
 *   partial.c       what orders some of a block's threads
 *   planes.c        the notes' planes
 *   race.c          races between blocks at the end of a launch; the texts
 *   streams.c       races between commands of several streams
 *   proxy.c         shared memory that threads write and products or bulk copies read:
 * fence.proxy.async warpgroup.c     what a warpgroup owes its products: four warps, wgmma.fence
 *   maps.c          tensor maps that kernels change */
#pragma once
#include "grader/sim/core/core.h"

/* Who a shared-memory stamp stands for. */
enum {
    RACE_ONE,
    RACE_LANES /* of one warp */,
    RACE_WARPS,
    RACE_ATOMIC_ONE,
    RACE_ATOMIC_LANES,
    RACE_ATOMIC_WARPS,
    RACE_WRITE_ATOMIC /* a plain write, and atomics of the same warp since */
};
enum {
    RACE_INTERVALS = 1 << 13,     /* of a block that stamps can tell */
    RACE_WARP_INTERVALS = 1 << 6, /* likewise of a warp */
    RACE_MANY_BLOCKS = 0xffff,
    RACE_SAME_VALUE = 0xfffe /* many wrote, all the same */
};

/* One execution of a memory instruction: past.c. */
struct race_past {
    u64 low, high; /* offsets in shared memory, or from SIM_BASE */
    u32 op, stat, mask, block, warp;
    u32 stamp, pattern; /* of reads of shared memory that are to be noted later: lanes_shared.c; of
                           global memory: near.c */
    bool shared;
    u8 did; /* PAST_… */
};
enum { RACE_PAST = 1 << 13 };
enum { PAST_READ, PAST_WRITE, PAST_UPDATE, RACE_DID };

struct race_range {
    u64 low, high;
}; /* offsets from SIM_BASE */

/* What a memo says of an execution's lanes, kept for later. */
struct race_pattern {
    s32 relative[32];
    s32 low;
    u32 leaders, twins;
    u8 shape;
};
enum { RACE_PATTERNS = 1 << 8 };

/* Reads of a block's shared memory in the interval at hand, to be stamped when stamps are needed.
 */
struct race_plane;
struct race_waiting {
    void (*stamp)(struct race_plane *p); /* does so, and then none wait */
    const u32 *write;                    /* the block's stamps */
    u32 *read;                           /* NULL: none wait */
    u32 first, pattern;                  /* where they begin in past, and in patterns */
};

/* A warp's last accesses to global memory since its lanes were last ordered: near.c. */
enum {
    RACE_NEAR = 8,
    RACE_NEAR_PATTERNS = 1 << 8,
    RACE_NEAR_LOOKS = 1 << 14 /* a worker and launch, lane by lane */
};
struct race_near_list {
    u64 low, high;     /* of all that were added */
    u32 n;             /* the last RACE_NEAR of them, in turn */
    u32 at[RACE_NEAR]; /* in past */
};
struct race_near {
    u32 since, whole; /* the block's tick, the warp's interval from which on these are */
    struct race_near_list list[RACE_DID]; /* by PAST_… */
};

/* RACE_ROW granules side by side: one note for all, as long as each access is one of all. */
struct race_row {
    u32 state; /* the epoch of the launch + ROW_FLAT or ROW_OPEN; else nothing was noted */
    u16 write, read;
    u32 wrote, was_read;
};
enum { RACE_ROW = 32 };
enum race_row_state { ROW_UNTOUCHED, ROW_FLAT, ROW_OPEN, ROW_STATES };

/* Notes of global memory by granule, (address - SIM_BASE) >> global_shift, of the blocks that one
 * worker ran. By block: none (0), one (1 + its number), or many. By tick: when and in which warp,
 * for races within a block: bits 0-4 warp · 5 several warps · 6-31 the worker's tick, which goes on
 * at each barrier and each block */
struct race_plane {
    u16 *write, *read,
        *update; /* blocks that wrote, that read, that updated by atomics or strong stores */
    u16 *value;  /* a hash of what was written last */
    u32 *wrote, *was_read, *updated;
    u32 *released; /* of the last write or update: the tick before which all is handed over with it.
                      order.c, if strict */
    u64 reach;     /* bytes behind SIM_BASE that the planes stand for */
    u32 tick;
    u32 shift;                  /* the launch's global_shift */
    bool updates;               /* the kernel has such: else `update` and `updated` say nothing */
    bool reads;                 /* a read was noted in this launch: else `was_read` says nothing */
    u32 raced;                  /* a race between this worker's blocks */
    struct race_range range;    /* touched in this launch */
    struct race_range *touched; /* the same by memory instruction */
    struct race_row *rows; /* …first of them: the planes above hold what rows that are open say */
    u32 epoch;             /* of the launch: rows.state */
    struct race_past *past; /* the last accesses, [RACE_PAST] in turn */
    u32 npast;              /* …and how many there were */
    struct race_pattern *patterns;
    u32 npatterns; /* likewise, [RACE_PATTERNS] */
    struct race_waiting waiting;
    struct race_near *near;               /* by warp */
    s32 near_strides[RACE_NEAR_PATTERNS]; /* of the last patterns: between neighbouring lanes; 0 =
                                             several */
    u32 near_patterns, near_looks;
};
enum { RACE_TICK = 1 << 6, RACE_MANY_WARPS = 1 << 5, RACE_TICKS = 1 << 26 };

/* Stamps of shared memory (lanes_shared.c): the first bit of each field; the lowest is the interval
 * of the warp. An interval of the block of 0 stands for never. */
enum { STAMP_LANE = 6, STAMP_WARP = 11, STAMP_KIND = 16, STAMP_INTERVAL = 19 };
_Static_assert(RACE_WARP_INTERVALS == 1 << STAMP_LANE &&
                   RACE_INTERVALS == 1ull << (32 - STAMP_INTERVAL),
               "fields fit");
static inline u32 race_shared_stamp(const struct exec *x, u32 lane) {
    return x->block->sync_epoch << STAMP_INTERVAL | x->warp->index << STAMP_WARP |
           lane << STAMP_LANE | (x->warp->sync_epoch & (RACE_WARP_INTERVALS - 1));
}
static inline u32 race_stamp_thread(u32 stamp) {
    return (stamp & ((1u << STAMP_KIND) - 1)) >> STAMP_LANE;
}

static inline enum race_row_state race_row_state(const struct race_plane *p, u64 row) {
    u32 since = p->rows[row].state - p->epoch;
    return since < ROW_STATES ? (enum race_row_state)since : ROW_UNTOUCHED;
}
void race_open_row(struct race_plane *p, u64 row);
static inline void race_need_row(struct race_plane *p, u64 granule) {
    if (race_row_state(p, granule / RACE_ROW) != ROW_OPEN) race_open_row(p, granule / RACE_ROW);
}
static inline u16 race_written_by(const struct race_plane *p, u64 granule) {
    enum race_row_state s = race_row_state(p, granule / RACE_ROW);
    return s == ROW_OPEN   ? p->write[granule]
           : s == ROW_FLAT ? p->rows[granule / RACE_ROW].write
                           : 0;
}
static inline u16 race_read_by(const struct race_plane *p, u64 granule) {
    enum race_row_state s = race_row_state(p, granule / RACE_ROW);
    return s == ROW_OPEN ? p->read[granule] : s == ROW_FLAT ? p->rows[granule / RACE_ROW].read : 0;
}
static inline u16 race_updated_by(const struct race_plane *p, u64 granule) {
    return p->updates && race_row_state(p, granule / RACE_ROW) == ROW_OPEN ? p->update[granule] : 0;
}

/* One instruction's access: lane l at offset base + rel[l] of shared memory, or from SIM_BASE. */
struct touch {
    const struct op *o;
    u64 base;
    const s32 *rel;
    u32 mask, span;
    enum race_access_kind access;
    u32 twins; /* lanes that share their address with others */
};

static inline u16 race_block(const struct block *b) {
    return (u16)(1 + b->linear % (RACE_SAME_VALUE - 1));
}
static inline u32 race_stamp(const struct block *b, const struct warp *w) {
    return b->race_shadow->tick * RACE_TICK | w->index;
}

static inline struct race_past *race_remember(struct exec *x, const struct op *o, u32 stat,
                                              bool shared, u64 low, u64 high, u32 mask,
                                              enum race_access_kind access) {
    struct race_plane *p = x->worker->race_shadow;
    u8 did = access == RACE_WRITE                        ? PAST_WRITE
             : access == RACE_RED || access == RACE_ATOM ? PAST_UPDATE
                                                         : PAST_READ;
    if (p->waiting.read && p->npast - p->waiting.first >= RACE_PAST) p->waiting.stamp(p);
    struct race_past *e = &p->past[p->npast++ % RACE_PAST];
    *e = (struct race_past){.low = low,
                            .high = high,
                            .op = (u32)(o - x->worker->launch->ops),
                            .stat = stat,
                            .mask = mask,
                            .block = (u32)x->block->linear,
                            .warp = x->warp->index,
                            .shared = shared,
                            .did = did};
    return e;
}

/* past.c: the last access of that kind to an address, before the one at hand. -1: any warp, any
 * lane. */
struct race_wanted {
    u64 address;
    u32 block;
    int warp, lane;
    bool shared;
    u8 did;
};
struct race_past *race_past_new(void);
/* `lane`: -1 where it is not known. */
bool race_past_find(const struct exec *x, const struct race_wanted *w, u32 *op, int *lane);

/* interval.c */
extern const struct race_callbacks race_hooks;
void race_next_interval(struct block *b,
                        const struct launch *l); /* nothing where races are not looked for */
/* Something orders a part of the threads: time goes on, for all of the block. */
void race_advance(struct block *b, const struct launch *l);
u32 race_next_tick(struct block *b);

/* partial.c: hooks */
void race_arrived(struct block *b, const struct warp *w, u32 barrier, const struct launch *l);
void race_released(struct block *b, u32 barrier, u32 warps, const struct launch *l);

/* near.c: global memory, lanes of one warp. `m`: the pattern; `e`: the access, as it was
 * remembered. */
void race_near(struct exec *x, struct access_pattern *m, const struct touch *t,
               struct race_past *e);
void race_near_forget(struct race_plane *p, u32 warp); /* something may have ordered its lanes */

/* watch.c: marks the allocations that the launch may change. */
void race_watch(const struct launch *l);

/* planes.c */
bool race_open(struct launch *l);
void race_close(struct launch *l);
void race_free(struct sim *s);
void race_forget_ticks(struct race_plane *p);

/* race.c */
void race_report(struct launch *l, struct sim_result *out);
/* Holds what the launch touched against commands that nothing orders it with, and keeps it: between
 * race_open and race_close. */
void race_streams_launch(struct launch *l, struct sim_result *out);
/* sim_set_stream_clock and sim_check_host_access (sim.h). */
void race_streams_order(struct sim *s, const struct sim_stream_clock *o);
bool race_streams_access(struct sim *s, const char *what, const struct sim_strided_range *r,
                         struct sim_report *out);
/* What was noted of memory that is freed, or of all. */
void race_streams_forget(struct sim *s, u64 address, u64 bytes);
void race_streams_clear(struct sim *s);
void race_streams_free(struct sim *s);
/* Whether a store leaves the granule as memory, or an earlier lane of the same store, has it. */
bool race_changes_nothing(const struct exec *x, const struct touch *t, u32 lane, u64 granule,
                          u32 shift, const u8 *memory);
/* The stores of lanes that may race within the block, looked at one by one, and their notes by
 * tick. */
void race_stores(struct exec *x, const struct touch *t);
/* Lanes of one store that leave different values in one place. */
void race_lanes(struct exec *x, const struct touch *t);
/* A load or atomic that does race within the block. */
void race_in_block(struct exec *x, const struct touch *t);
/* The notes of a granule that an access is about to change, where time has gone on for a part of
 * the block. */
void race_partly(struct exec *x, const struct touch *t, u64 granule);
/* "block (1,0,0)", where the number in a note still says which. */
void race_block_name(const struct launch *l, u16 note, char *out, size_t size);

/* A plain read beside atomics of others, which an atomic of its own checks again: no fault. */
void race_note_peek(struct exec *x, const struct touch *t, u32 lane);
u8 race_did(const char *did); /* "read", "wrote", "updated" */
/* "thread (3,0,0) of block (1,0,0) wrote in line 7"; `otherwise`: who, where the thread is not
 * known. */
void race_describe_other(const struct exec *x, const struct race_wanted *w, const char *otherwise,
                         const char *did, char *out, size_t size);
/* The same of several, of whom `who` names one. */
void race_describe_many(const struct exec *x, const struct race_wanted *w, const char *who,
                        const char *did, char *out, size_t size);
/* "thread (3,0,0) wrote in line 7", of an op that is known. */
void race_describe_op(const struct exec *x, u32 thread, u32 op, const char *did, char *out,
                      size_t size);
/* "element 63 of `p` (1024 bytes)" */
void race_describe_place(const struct exec *x, const struct touch *t, u64 address, char *out,
                         size_t size);
/* cluster.c: a lane's access to shared memory of a block of its cluster, which may be its own. */
void race_cluster(struct exec *x, struct block *target, const struct op *o, u32 lane, u64 offset,
                  u32 span, enum race_access_kind access);

/* order.c: an access, or an atomic of one lane whose result is used. */
void race_ordered(struct exec *x, const struct touch *t);
void race_ordered_exchange(struct exec *x, const struct mem_desc *d, u64 address, bool changed);
void race_ordered_fence(struct exec *x); /* one that threads of other blocks may rely on */
