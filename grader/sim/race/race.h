/* race.h — the shadow memory in which the race detector records accesses, and its functions:
 *
 *   writable_allocations.c  the allocations that a launch may change: only these are checked
 *   sync_epoch.c            clocks: sync epochs of blocks and warps, ticks of workers
 *   exec_shared.c           shared memory: epochs of the last write and the last reads
 *   cluster.c               shared memory of other blocks of a cluster
 *   exec_global.c           global memory, blocks in any order on several workers
 *   happens_before.c        global memory, kernels whose blocks run in order on one worker
 *   intra_warp.c            global memory, lanes of one warp
 *   first_store.c           polls of words that only the launch itself initializes
 *   block_scope.c           atomics of block scope on memory that several blocks update
 *   read_only_load.c        read-only loads of global memory that the kernel writes
 *   vector_clock.c          synchronization of some threads of a block
 *   lane_order.c            synchronization of lanes, for happens_before.c
 *   idempotence.c           launches that read nothing that they write
 *   shadow.c                the planes of the shadow memory
 *   history.c               the last accesses, for the reports
 *   race.c                  races between blocks at the end of a launch; the reports' texts
 *   streams.c               races between commands of several streams
 *   footprint.c             the bytes that such a command accesses
 *   proxy.c                 missing fence.proxy.async before a wgmma or a bulk copy reads
 *   async.c                 copies in flight
 *   wgmma_pending.c         wgmmas in flight
 *   warpgroup.c             wgmmas that need four warps and a wgmma.fence
 *   tensor_map_proxy.c      tensor maps that kernels change */
#pragma once
#include "grader/sim/core/core.h"

/* The kind of an epoch of shared memory: the threads that it stands for. */
enum {
    EPOCH_THREAD,
    EPOCH_LANES, /* several lanes of one warp */
    EPOCH_WARPS, /* several warps */
    EPOCH_ATOMIC_THREAD,
    EPOCH_ATOMIC_LANES,
    EPOCH_ATOMIC_WARPS,
    EPOCH_WRITE_THEN_ATOMIC /* a plain write, then atomics of the same warp */
};
enum {
    RACE_SYNC_EPOCHS = 1 << 13,     /* of a block, before they wrap */
    RACE_WARP_SYNC_EPOCHS = 1 << 6, /* of a warp, before they wrap */
    RACE_MANY_BLOCKS = 0xffff,
    RACE_SAME_VALUE = 0xfffe /* several blocks wrote, all the same value */
};

/* One execution of a memory instruction: history.c. */
struct access_record {
    u64 low, high; /* offsets in shared memory, or from SIM_BASE */
    u32 op, stat, mask, block, warp;
    u32 epoch, pattern; /* of deferred reads of shared memory (exec_shared.c) and of accesses to
                           global memory (intra_warp.c) */
    bool shared;
    u8 access_kind; /* ACCESS_READ, … */
};
enum { RACE_HISTORY_SIZE = 1 << 13 };
enum { ACCESS_READ, ACCESS_WRITE, ACCESS_UPDATE, ACCESS_KIND_COUNT };

/* Offsets from SIM_BASE, high excluded. */
struct offset_range {
    u64 low, high;
};

/* A copy of an execution's access pattern, for its deferred read. */
struct lane_pattern {
    s32 lane_offset[32];
    s32 low;
    u32 first_lane_mask, duplicate_mask;
    u8 shape;
};
enum { RACE_PATTERN_CACHE_SIZE = 1 << 8 };

/* A block's reads of shared memory in the current sync epoch, whose shadow cells are written only
 * when another access needs them. */
struct race_shadow;
struct deferred_reads {
    void (*flush)(struct race_shadow *p); /* writes them all to the shadow cells */
    const u32 *write_epochs;              /* the block's */
    u32 *read_epochs;                     /* the block's; NULL: no reads are deferred */
    u32 first_record, first_pattern;      /* the first of them in `history` and in `patterns` */
};

/* A warp's last accesses to global memory since its lanes were last ordered: intra_warp.c. */
enum {
    INTRA_WARP_RING_SIZE = 8,
    INTRA_WARP_STRIDE_CACHE_SIZE = 1 << 8,
    MAX_INTRA_WARP_CHECKS = 1 << 14 /* lane by lane, for each worker and launch */
};
struct intra_warp_ring {
    u64 low, high;                          /* the range of all accesses that were added */
    u32 n;                                  /* number of accesses that were added */
    u32 record_index[INTRA_WARP_RING_SIZE]; /* of the last ones in `history`, a ring buffer */
};
struct intra_warp_history {
    u32 block_clock, warp_sync_epoch; /* the block's tick, the warp's sync epoch at their start */
    struct intra_warp_ring ring[ACCESS_KIND_COUNT]; /* by ACCESS_READ, … */
};

/* SHADOW_ROW_CELLS neighbouring cells, which share a record while every access covers them all. */
struct shadow_row {
    u32 state; /* row_state_base + ROW_COMPACT or ROW_EXPANDED; else no access in this launch */
    u16 writer_block, reader_block;
    u32 last_write_epoch, last_read_epoch;
};
enum { SHADOW_ROW_CELLS = 32 };
enum shadow_row_state { ROW_EMPTY, ROW_COMPACT, ROW_EXPANDED, ROW_STATE_COUNT };

/* One worker's shadow memory of global memory: accesses by the blocks that it ran. A plane has an
 * element for each cell, (address - SIM_BASE) >> global_shift. Planes by block hold none (0), one
 * (1 + its number) or many. Epochs hold the tick and the warp, for races within a block: bits 0-4
 * warp · 5 several warps · 6-31 the worker's tick, which advances at each barrier and block. */
struct race_shadow {
    /* Blocks that wrote, that read, that updated by atomics or strong stores. */
    u16 *writer_block, *reader_block, *updater_block;
    u16 *value_hash; /* a hash of the last value written */
    u32 *last_write_epoch, *last_read_epoch, *last_update_epoch;
    /* Of the last write or update: whoever acquires it is ordered after all before this tick
     * (happens_before.c). */
    u32 *release_clock;
    u64 covered_start, covered_end; /* offsets from SIM_BASE that the planes cover */
    u32 mapped_shift;   /* address space of the planes suffices for cells of 1 << mapped_shift */
    int page_advice;    /* the last madvise() of the planes; 0 = none */
    u32 logical_clock;  /* the tick */
    u32 cell_shift;     /* the launch's global_shift */
    bool has_updates;   /* else updater_block and last_update_epoch are not valid */
    bool has_reads;     /* a read was recorded in this launch: else last_read_epoch is not valid */
    u32 has_block_race; /* two of this worker's blocks may have raced */
    struct offset_range accessed_range; /* of all accesses of this launch */
    struct offset_range *insn_ranges;   /* the same by memory instruction */
    struct shadow_row *rows;            /* expanded rows have their records in the planes above */
    u32 row_state_base;                 /* of this launch, for rows[].state */
    struct access_record *history;      /* the last accesses: ring buffer of RACE_HISTORY_SIZE */
    u32 nrecords;                       /* number of records that were added */
    struct lane_pattern *patterns;      /* ring buffer of RACE_PATTERN_CACHE_SIZE */
    u32 npatterns;                      /* number of patterns that were added */
    struct deferred_reads deferred;
    struct intra_warp_history *intra_warp; /* by warp */
    /* Bytes between neighbouring lanes of the last patterns; 0: not constant. */
    s32 pattern_strides[INTRA_WARP_STRIDE_CACHE_SIZE];
    u32 nstride_patterns, intra_warp_checks;
    /* A bit for each cell that an atomic of block scope updated in this launch (last, if
     * happens_before.c tracks it), or NULL. */
    u8 *block_scope_cells;
    /* A bit for each cell that was uninitialized before a strong store of this launch, or NULL. */
    u8 *first_stored_cells;
    u8 *read_only_cells; /* a bit for each cell that a read-only load read in this launch, or NULL
                          */
    /* Of happens_before.c, or NULL: the lanes of a cell's last accesses; the order of its last
     * release. */
    struct cell_lanes *cell_lanes;
    struct cell_release *cell_releases;
    /* Of happens_before.c, or NULL: no reduction has come on top of another block's update. */
    struct former_update *former_updates;
};
enum { RACE_CLOCK_UNIT = 1 << 6, RACE_MANY_WARPS = 1 << 5, RACE_CLOCK_LIMIT = 1 << 26 };

/* Epochs of shared memory (exec_shared.c): the first bit of each field. The lowest field is the
 * warp's sync epoch, the highest the block's; 0 there means never. */
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

/* Returns zeroed bits, one for each cell of the launch; shadow.c frees them with the launch. */
u8 *race_new_cell_bits(const struct race_shadow *p);
/* Maps cell_lanes and cell_releases. */
void race_open_lane_planes(struct race_shadow *p);
/* Maps former_updates. */
void race_open_former_updates(struct race_shadow *p);

static inline enum shadow_row_state shadow_row_state(const struct race_shadow *p, u64 row) {
    u32 state = p->rows[row].state - p->row_state_base;
    return state < ROW_STATE_COUNT ? (enum shadow_row_state)state : ROW_EMPTY;
}
/* Copies a row's compact record to each of its cells. */
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

/* One instruction's access: lane l at base + lane_offset[l], an offset in shared memory or from
 * SIM_BASE. */
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

/* history.c: searches the last access of that kind to an address before the current one. A warp or
 * lane of -1 means any. */
struct history_query {
    u64 address;
    u32 block;
    int warp, lane;
    bool shared;
    u8 access_kind;
};
/* Returns an empty history of RACE_HISTORY_SIZE records; free it with free(). */
struct access_record *race_history_new(void);
/* Returns true and sets the op and the lane of the access; the lane is -1 if it is unknown. */
bool race_history_find(const struct exec *x, const struct history_query *w, u32 *op, int *lane);

/* sync_epoch.c */
extern const struct race_callbacks race_callbacks;
/* Begins a sync epoch of the block: all its threads are ordered. Does nothing without sanitizer. */
void race_next_sync_epoch(struct block *b, const struct launch *l);
/* Advances the block's time where only some of its threads are ordered. */
void race_next_partial_epoch(struct block *b, const struct launch *l);
u32 race_advance_clock(struct block *b);

/* vector_clock.c: callbacks for named barriers. */
void race_barrier_arrive(struct block *b, const struct warp *w, u32 barrier,
                         const struct launch *l);
void race_barrier_release(struct block *b, u32 barrier, u32 warps, const struct launch *l);

/* intra_warp.c: checks an access to global memory against earlier ones of the warp. `m` is its
 * pattern, `e` its record in the history. */
void race_check_intra_warp(struct exec *x, struct access_pattern *m, const struct mem_access *t,
                           struct access_record *e);
/* Forgets the warp's earlier accesses: something may have ordered its lanes. */
void race_intra_warp_reset(struct race_shadow *p, u32 warp);

/* block_scope.c: notes the scope of an update for each cell that it changes: the block, or, to
 * forget an earlier one, a wider scope. */
void race_note_scope(struct race_shadow *p, u64 cell, bool is_block_scope);
void race_note_block_scope(struct exec *x, const struct mem_access *t);
/* Returns true if that is the block for some update; for happens_before.c: for the last one. */
bool race_is_block_scope_cell(const struct race_shadow *p, u64 cell);
/* The end of a report's text. */
extern const char race_block_scope_text[];

/* first_store.c: notes which cells are not initialized yet, before a strong store to the addresses
 * base + lane_offset[lane]; reports a poll that finds what another block stored in one. */
void race_note_first_stores(struct exec *x, u64 base, const s32 *lane_offset, u32 mask, u32 span);
void race_check_poll_of_first_store(struct exec *x, const struct mem_access *t, u32 lane, u64 cell);

/* read_only_load.c: checks a load by the read-only path, and a store if there were such loads. */
void race_read_only_load(struct exec *x, const struct access_pattern *m,
                         const struct mem_access *t);
void race_read_only_store(struct exec *x, const struct access_pattern *m,
                          const struct mem_access *t);

/* idempotence.c: returns true if an equal launch right after this one would change nothing. For a
 * launch that has ended without findings, before race_close. */
bool race_is_idempotent(struct launch *l);

/* writable_allocations.c: marks the allocations that the launch may change. */
void race_mark_writable_allocations(const struct launch *l);
/* Notes that a store or an atomic reached an allocation that is not marked. */
static inline void race_note_unproven_store(struct launch *l) {
    atomic_store_explicit(&l->has_unproven_store, true, memory_order_relaxed);
}
/* Keeps the note for later launches of the kernel. */
void race_keep_unproven_stores(const struct launch *l);

/* shadow.c */
bool race_open(struct launch *l);
void race_close(struct launch *l);
void race_free(struct sim *s);
void race_reset_clock(struct race_shadow *p);

/* race.c */
void race_report(struct launch *l, struct sim_result *out);
/* streams.c: checks what the launch accessed against commands that nothing orders it with, and
 * records it. Call it between race_open and race_close. */
void race_streams_check_launch(struct launch *l, struct sim_result *out);
/* The same as sim_set_stream_clock (sim.h); without a clock, or with sequence number 0, no streams
 * are in use, and the check ends. */
void race_streams_set_clock(struct sim *s, const struct sim_stream_clock *clock);
/* The same as sim_check_host_access (sim.h). */
bool race_streams_check_range(struct sim *s, const char *description,
                              const struct sim_strided_range *range, struct sim_report *report);
/* The same as sim_list_accesses (sim.h). */
unsigned race_streams_list(const struct sim *s, u64 low, u64 high, struct sim_access_run *out,
                           unsigned max);
/* The addresses that an instruction accessed, by its stat_entry; low >= high: none. */
struct offset_range race_insn_range(const struct launch *l, u32 stat_index);
/* peer_traffic.c: returns about how many bytes went from or to memory of other devices. */
u64 race_peer_bytes(const struct launch *l);
/* Drops the records of memory that is freed; or all of them. */
void race_streams_remove(struct sim *s, u64 address, u64 bytes);
void race_streams_clear(struct sim *s);
void race_streams_free(struct sim *s);
/* race.c: returns true if the lane's store leaves the cell as memory, or a lower lane of the same
 * store, already has it. Bytes of shared memory may hold anything before their first store,
 * although they are 0 here. */
bool race_is_silent_store(const struct exec *x, const struct mem_access *t, u32 lane, u64 cell,
                          u32 shift, const u8 *memory);
/* Checks the stores of lanes that may race within the block one by one, and sets their epochs. */
void race_check_stores(struct exec *x, const struct mem_access *t);
/* Reports lanes of one store that leave different values in one cell. */
void race_check_store_lanes(struct exec *x, const struct mem_access *t);
/* Reports a load or atomic that races within the block. */
void race_report_in_block(struct exec *x, const struct mem_access *t);
/* Checks a cell that an access is about to change, where only some of the block's threads were
 * ordered since its last barrier. */
void race_check_partial_sync(struct exec *x, const struct mem_access *t, u64 cell);
/* Writes "block (1,0,0)", or "one block" where the id does not identify it. */
void race_describe_block(const struct launch *l, u16 block_id, char *out, size_t size);

/* Adds a note on a plain read of what others update by atomics, which the thread's own atomic
 * verifies. */
void race_report_revalidated_read(struct exec *x, const struct mem_access *t, u32 lane);
u8 race_access_kind(const char *past_verb); /* "read", "wrote", "updated" */
/* Writes "thread (3,0,0) of block (1,0,0) wrote in line 7"; `fallback` replaces an unknown thread.
 */
void race_describe_other(const struct exec *x, const struct history_query *w, const char *fallback,
                         const char *past_verb, char *out, size_t size);
/* Does the same for several threads, which `actor` names. */
void race_describe_many(const struct exec *x, const struct history_query *w, const char *actor,
                        const char *past_verb, char *out, size_t size);
/* Writes "thread (3,0,0) wrote in line 7" for a known op. */
void race_describe_op(const struct exec *x, u32 thread, u32 op, const char *past_verb, char *out,
                      size_t size);
/* Writes "element 63 of `p` (1024 bytes)". */
void race_describe_address(const struct exec *x, const struct mem_access *t, u64 address, char *out,
                           size_t size);
/* cluster.c: checks a lane's access to shared memory of a block of its cluster, also its own. */
void race_cluster_access(struct exec *x, struct block *target, const struct op *o, u32 lane,
                         u64 offset, u32 span, enum race_access_kind access);

/* happens_before.c: checks an access; an atomic of one lane whose result is used; a fence at the
 * scope of the GPU or wider, by these lanes. */
void race_hb_access(struct exec *x, const struct mem_access *t);
void race_hb_atom(struct exec *x, const struct op *o, u32 lane, u64 address, bool changed);
void race_hb_fence(struct exec *x, u32 lanes);
/* At a block's start and end. */
void race_hb_start(struct block *b);
void race_hb_free(struct block *b);
/* A barrier of the block: what its warps released and acquired counts for all. Some of its threads
 * synchronized with the warp: the same for that warp. */
void race_hb_join_block(struct block *b);
void race_hb_join_warp(struct block *b, struct warp *w);
