/* race.h — what is noted of accesses to find races, and who reports them.
 *
 *   writable_allocations.c         the allocations that a launch may change: no others are looked at
 *   sync_epoch.c      time: intervals between barriers, ticks
 *   exec_shared.c  shared memory: stamps of the last write and the last reads
 *   cluster.c       shared memory of other blocks of a cluster
 *   exec_global.c  global memory, blocks in any order on several workers
 *   happens_before.c         global memory, kernels whose blocks run in order on one worker
 *   intra_warp.c          global memory, lanes of one warp
 *   vector_clock.c       what orders some of a block's threads
 *   shadow.c        the notes' planes
 *   race.c          races between blocks at the end of a launch; the texts
 *   streams.c       races between commands of several streams
 *   proxy.c         shared memory that threads write and products or bulk copies read:
 * fence.proxy.async warpgroup.c     what a warpgroup owes its products: four warps, wgmma.fence
 *   tensor_map_proxy.c          tensor maps that kernels change */
#pragma once
#include "grader/sim/core/core.h"

/* Who a shared-memory stamp stands for. */
enum {
    EPOCH_THREAD,
    EPOCH_LANES /* of one warp */,
    EPOCH_WARPS,
    EPOCH_ATOMIC_THREAD,
    EPOCH_ATOMIC_LANES,
    EPOCH_ATOMIC_WARPS,
    EPOCH_WRITE_THEN_ATOMIC /* a plain write, and atomics of the same warp since */
};
enum {
    RACE_SYNC_EPOCHS = 1 << 13,     /* of a block that stamps can tell */
    RACE_WARP_SYNC_EPOCHS = 1 << 6, /* likewise of a warp */
    RACE_MANY_BLOCKS = 0xffff,
    RACE_SAME_VALUE = 0xfffe /* many wrote, all the same */
};

/* One execution of a memory instruction: history.c. */
struct access_record {
    u64 low, high; /* offsets in shared memory, or from SIM_BASE */
    u32 op, stat, mask, block, warp;
    u32 epoch, pattern; /* of reads of shared memory that are to be noted later: exec_shared.c; of
                           global memory: intra_warp.c */
    bool shared;
    u8 access_kind; /* PAST_… */
};
enum { RACE_HISTORY_SIZE = 1 << 13 };
enum { ACCESS_READ, ACCESS_WRITE, ACCESS_UPDATE, ACCESS_KIND_COUNT };

struct offset_range {
    u64 low, high;
}; /* offsets from SIM_BASE */

/* What a memo says of an execution's lanes, kept for later. */
struct lane_pattern {
    s32 lane_offset[32];
    s32 low;
    u32 first_lane_mask, duplicate_mask;
    u8 shape;
};
enum { RACE_PATTERN_CACHE_SIZE = 1 << 8 };

/* Reads of a block's shared memory in the interval at hand, to be stamped when stamps are needed.
 */
struct race_shadow;
struct deferred_reads {
    void (*flush)(struct race_shadow *p); /* does so, and then none wait */
    const u32 *write_epochs;              /* the block's stamps */
    u32 *read_epochs;                     /* NULL: none wait */
    u32 first_record, first_pattern;      /* where they begin in past, and in patterns */
};

/* A warp's last accesses to global memory since its lanes were last ordered: intra_warp.c. */
enum {
    INTRA_WARP_RING_SIZE = 8,
    INTRA_WARP_STRIDE_CACHE_SIZE = 1 << 8,
    MAX_INTRA_WARP_CHECKS = 1 << 14 /* a worker and launch, lane by lane */
};
struct intra_warp_ring {
    u64 low, high;                          /* of all that were added */
    u32 n;                                  /* the last INTRA_WARP_RING_SIZE of them, in turn */
    u32 record_index[INTRA_WARP_RING_SIZE]; /* in past */
};
struct intra_warp_history {
    u32 block_clock,
        warp_sync_epoch; /* the block's tick, the warp's interval from which on these are */
    struct intra_warp_ring ring[ACCESS_KIND_COUNT]; /* by PAST_… */
};

/* SHADOW_ROW_CELLS granules side by side: one note for all, as long as each access is one of all.
 */
struct shadow_row {
    u32 state; /* the epoch of the launch + ROW_COMPACT or ROW_EXPANDED; else nothing was noted */
    u16 writer_block, reader_block;
    u32 last_write_epoch, last_read_epoch;
};
enum { SHADOW_ROW_CELLS = 32 };
enum shadow_row_state { ROW_EMPTY, ROW_COMPACT, ROW_EXPANDED, ROW_STATE_COUNT };

/* Notes of global memory by granule, (address - SIM_BASE) >> global_shift, of the blocks that one
 * worker ran. By block: none (0), one (1 + its number), or many. By tick: when and in which warp,
 * for races within a block: bits 0-4 warp · 5 several warps · 6-31 the worker's tick, which goes on
 * at each barrier and each block */
struct race_shadow {
    u16 *writer_block, *reader_block,
        *updater_block; /* blocks that wrote, that read, that updated by atomics or strong stores */
    u16 *value_hash;    /* a hash of what was written last */
    u32 *last_write_epoch, *last_read_epoch, *last_update_epoch;
    u32 *release_clock; /* of the last write or update: the tick before which all is handed over
                      with it. happens_before.c, if strict */
    u64 covered_bytes;  /* bytes behind SIM_BASE that the planes stand for */
    u32 logical_clock;
    u32 cell_shift;     /* the launch's global_shift */
    bool has_updates;   /* the kernel has such: else `update` and `updated` say nothing */
    bool has_reads;     /* a read was noted in this launch: else `was_read` says nothing */
    u32 has_block_race; /* a race between this worker's blocks */
    struct offset_range accessed_range; /* touched in this launch */
    struct offset_range *insn_ranges;   /* the same by memory instruction */
    struct shadow_row *rows; /* …first of them: the planes above hold what rows that are open say */
    u32 row_state_base;      /* of the launch: rows.state */
    struct access_record *history; /* the last accesses, [RACE_HISTORY_SIZE] in turn */
    u32 nrecords;                  /* …and how many there were */
    struct lane_pattern *patterns;
    u32 npatterns; /* likewise, [RACE_PATTERN_CACHE_SIZE] */
    struct deferred_reads deferred;
    struct intra_warp_history *intra_warp;             /* by warp */
    s32 pattern_strides[INTRA_WARP_STRIDE_CACHE_SIZE]; /* of the last patterns: between neighbouring
                                             lanes; 0 = several */
    u32 nstride_patterns, intra_warp_checks;
};
enum { RACE_CLOCK_UNIT = 1 << 6, RACE_MANY_WARPS = 1 << 5, RACE_CLOCK_LIMIT = 1 << 26 };

/* Stamps of shared memory (exec_shared.c): the first bit of each field; the lowest is the interval
 * of the warp. An interval of the block of 0 stands for never. */
enum { EPOCH_LANE_SHIFT = 6, EPOCH_WARP_SHIFT = 11, EPOCH_KIND_SHIFT = 16, EPOCH_SYNC_SHIFT = 19 };
_Static_assert(RACE_WARP_SYNC_EPOCHS == 1 << EPOCH_LANE_SHIFT &&
                   RACE_SYNC_EPOCHS == 1ull << (32 - EPOCH_SYNC_SHIFT),
               "fields fit");
static inline u32 race_shared_epoch(const struct exec *x, u32 lane) {
    return x->block->sync_epoch << EPOCH_SYNC_SHIFT | x->warp->index << EPOCH_WARP_SHIFT |
           lane << EPOCH_LANE_SHIFT | (x->warp->sync_epoch & (RACE_WARP_SYNC_EPOCHS - 1));
}
static inline u32 race_epoch_thread(u32 epoch) {
    return (epoch & ((1u << EPOCH_KIND_SHIFT) - 1)) >> EPOCH_LANE_SHIFT;
}

static inline enum shadow_row_state shadow_row_state(const struct race_shadow *p, u64 row) {
    u32 state = p->rows[row].state - p->row_state_base;
    return state < ROW_STATE_COUNT ? (enum shadow_row_state)state : ROW_EMPTY;
}
void race_expand_row(struct race_shadow *p, u64 row);
static inline void race_ensure_expanded_row(struct race_shadow *p, u64 cell) {
    if (shadow_row_state(p, cell / SHADOW_ROW_CELLS) != ROW_EXPANDED)
        race_expand_row(p, cell / SHADOW_ROW_CELLS);
}
static inline u16 race_writer_block(const struct race_shadow *p, u64 cell) {
    enum shadow_row_state s = shadow_row_state(p, cell / SHADOW_ROW_CELLS);
    return s == ROW_EXPANDED  ? p->writer_block[cell]
           : s == ROW_COMPACT ? p->rows[cell / SHADOW_ROW_CELLS].writer_block
                              : 0;
}
static inline u16 race_reader_block(const struct race_shadow *p, u64 cell) {
    enum shadow_row_state s = shadow_row_state(p, cell / SHADOW_ROW_CELLS);
    return s == ROW_EXPANDED  ? p->reader_block[cell]
           : s == ROW_COMPACT ? p->rows[cell / SHADOW_ROW_CELLS].reader_block
                              : 0;
}
static inline u16 race_updater_block(const struct race_shadow *p, u64 cell) {
    return p->has_updates && shadow_row_state(p, cell / SHADOW_ROW_CELLS) == ROW_EXPANDED
               ? p->updater_block[cell]
               : 0;
}

/* One instruction's access: lane l at offset base + rel[l] of shared memory, or from SIM_BASE. */
struct mem_access {
    const struct op *o;
    u64 base;
    const s32 *lane_offset;
    u32 mask, span;
    enum race_access_kind kind;
    u32 duplicate_mask; /* lanes that share their address with others */
};

static inline u16 race_block_id(const struct block *b) {
    return (u16)(1 + b->linear % (RACE_SAME_VALUE - 1));
}
static inline u32 race_global_epoch(const struct block *b, const struct warp *w) {
    return b->race_shadow->logical_clock * RACE_CLOCK_UNIT | w->index;
}

static inline struct access_record *race_record_access(struct exec *x, const struct op *o, u32 stat,
                                                       bool shared, u64 low, u64 high, u32 mask,
                                                       enum race_access_kind access) {
    struct race_shadow *p = x->worker->race_shadow;
    u8 access_kind = access == RACE_WRITE                        ? ACCESS_WRITE
                     : access == RACE_RED || access == RACE_ATOM ? ACCESS_UPDATE
                                                                 : ACCESS_READ;
    if (p->deferred.read_epochs && p->nrecords - p->deferred.first_record >= RACE_HISTORY_SIZE)
        p->deferred.flush(p);
    struct access_record *e = &p->history[p->nrecords++ % RACE_HISTORY_SIZE];
    *e = (struct access_record){.low = low,
                                .high = high,
                                .op = (u32)(o - x->worker->launch->ops),
                                .stat = stat,
                                .mask = mask,
                                .block = (u32)x->block->linear,
                                .warp = x->warp->index,
                                .shared = shared,
                                .access_kind = access_kind};
    return e;
}

/* history.c: the last access of that kind to an address, before the one at hand. -1: any warp, any
 * lane. */
struct history_query {
    u64 address;
    u32 block;
    int warp, lane;
    bool shared;
    u8 access_kind;
};
struct access_record *race_history_new(void);
/* `lane`: -1 where it is not known. */
bool race_history_find(const struct exec *x, const struct history_query *w, u32 *op, int *lane);

/* sync_epoch.c */
extern const struct race_callbacks race_callbacks;
void race_next_sync_epoch(struct block *b,
                          const struct launch *l); /* nothing where races are not looked for */
/* Something orders a part of the threads: time goes on, for all of the block. */
void race_next_partial_epoch(struct block *b, const struct launch *l);
u32 race_advance_clock(struct block *b);

/* vector_clock.c: hooks */
void race_barrier_arrive(struct block *b, const struct warp *w, u32 barrier,
                         const struct launch *l);
void race_barrier_release(struct block *b, u32 barrier, u32 warps, const struct launch *l);

/* intra_warp.c: global memory, lanes of one warp. `m`: the pattern; `e`: the access, as it was
 * remembered. */
void race_check_intra_warp(struct exec *x, struct access_pattern *m, const struct mem_access *t,
                           struct access_record *e);
void race_intra_warp_reset(struct race_shadow *p,
                           u32 warp); /* something may have ordered its lanes */

/* writable_allocations.c: marks the allocations that the launch may change. */
void race_mark_writable_allocations(const struct launch *l);

/* shadow.c */
bool race_open(struct launch *l);
void race_close(struct launch *l);
void race_free(struct sim *s);
void race_reset_clock(struct race_shadow *p);

/* race.c */
void race_report(struct launch *l, struct sim_result *out);
/* Holds what the launch touched against commands that nothing orders it with, and keeps it: between
 * race_open and race_close. */
void race_streams_launch(struct launch *l, struct sim_result *out);
/* sim_set_stream_clock and sim_check_host_access (sim.h). */
void race_streams_set_clock(struct sim *s, const struct sim_stream_clock *o);
bool race_streams_access(struct sim *s, const char *description, const struct sim_strided_range *r,
                         struct sim_report *out);
/* What was noted of memory that is freed, or of all. */
void race_streams_remove(struct sim *s, u64 address, u64 bytes);
void race_streams_clear(struct sim *s);
void race_streams_free(struct sim *s);
/* Whether a store leaves the granule as memory, or an earlier lane of the same store, has it. */
bool race_is_silent_store(const struct exec *x, const struct mem_access *t, u32 lane, u64 cell,
                          u32 shift, const u8 *memory);
/* The stores of lanes that may race within the block, looked at one by one, and their notes by
 * tick. */
void race_check_stores(struct exec *x, const struct mem_access *t);
/* Lanes of one store that leave different values in one place. */
void race_check_store_lanes(struct exec *x, const struct mem_access *t);
/* A load or atomic that does race within the block. */
void race_report_in_block(struct exec *x, const struct mem_access *t);
/* The notes of a granule that an access is about to change, where time has gone on for a part of
 * the block. */
void race_check_partial_sync(struct exec *x, const struct mem_access *t, u64 cell);
/* "block (1,0,0)", where the number in a note still says which. */
void race_describe_block(const struct launch *l, u16 block_id, char *out, size_t size);

/* A plain read beside atomics of others, which an atomic of its own checks again: no fault. */
void race_report_revalidated_read(struct exec *x, const struct mem_access *t, u32 lane);
u8 race_access_kind(const char *past_verb); /* "read", "wrote", "updated" */
/* "thread (3,0,0) of block (1,0,0) wrote in line 7"; `otherwise`: who, where the thread is not
 * known. */
void race_describe_other(const struct exec *x, const struct history_query *w, const char *fallback,
                         const char *past_verb, char *out, size_t size);
/* The same of several, of whom `who` names one. */
void race_describe_many(const struct exec *x, const struct history_query *w, const char *actor,
                        const char *past_verb, char *out, size_t size);
/* "thread (3,0,0) wrote in line 7", of an op that is known. */
void race_describe_op(const struct exec *x, u32 thread, u32 op, const char *past_verb, char *out,
                      size_t size);
/* "element 63 of `p` (1024 bytes)" */
void race_describe_address(const struct exec *x, const struct mem_access *t, u64 address, char *out,
                           size_t size);
/* cluster.c: a lane's access to shared memory of a block of its cluster, which may be its own. */
void race_cluster_access(struct exec *x, struct block *target, const struct op *o, u32 lane,
                         u64 offset, u32 span, enum race_access_kind access);

/* happens_before.c: an access, or an atomic of one lane whose result is used. */
void race_hb_access(struct exec *x, const struct mem_access *t);
void race_hb_atom(struct exec *x, const struct mem_desc *d, u64 address, bool changed);
void race_hb_fence(struct exec *x); /* one that threads of other blocks may rely on */
