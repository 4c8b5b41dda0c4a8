/* sm_model.h — the state of the SM that a replay runs, shared by replay.c (issue), replay_memory.c
 * (L1, L2, DRAM), replay_trace.c, replay_local.c, replay_atomics.c, replay_async.c,
 * replay_grid_barrier.c and sm_model.c (set-up, rates, results). Times are cycles since the launch.
 */
#pragma once
#include "grader/sim/timing/internal.h"

enum { SCHEDULERS_PER_SM = 4 };
/* Cycles of work that may be queued before a warp stalls: loads and stores for L1, stores for L2,
 * atomics. These are assumptions; between half and twice the values results hardly change. */
static const double l1_queue_cycles = 64, l2_queue_cycles = 600, atomic_queue_cycles = 600;

#define L2_SLICE_KEY (1ull << 63)
struct atomic_unit {         /* a sector that atomics update, or the L2 slice that executes them */
    u64 key;                 /* address | 31, or L2_SLICE_KEY | number; 0 = empty */
    u64 last_sector;         /* of a slice: the sector that it updated last */
    u32 nblocks, last_block; /* traced blocks that use it; 1 + the last one seen */
    double free_at, busy_cycles;
    double swap_free_at; /* when the swaps that wait for each other have succeeded */
};

/* Lines that a store of the warp wrote only in part. mergeable: they are few enough for the next
 * store to complete them in L1. */
struct partial_store {
    u64 line[6];
    u8 n;
    bool mergeable;
};

enum { MAX_ASYNC_GROUPS = 16, MBARRIER_SLOTS = 32 };

/* An mbarrier at which copies arrive. */
struct mbarrier_slot {
    u64 offset; /* 1 + its offset; 0 = empty */
    double done_at;
    u8 reason; /* enum stall of a wait there */
};

/* A warp's asynchronous operations in flight, and their groups. */
struct async_groups {
    double done_at;                         /* of all operations so far */
    double group_done_at[MAX_ASYNC_GROUPS]; /* of the last groups, a ring buffer */
    u32 ngroups;                            /* number of committed groups */
    u8 reason;                              /* enum stall of a wait for them */
};

struct sm_warp {
    const struct trace_warp *trace;
    u32 at;
    struct region *region;
    struct chunk chunk; /* used in place of the region if there is machine code */
    u32 insn_index, block_slot, scheduler;
    double ready_at, issued_at;
    /* For the next instruction: its operands, room in the queue of its stores or atomics, its pipe.
     */
    double operands_ready_at, stores_fit_at, queue_free_at, pipe_free_at;
    double spills_owed; /* accesses to spilled registers still to be issued, a fraction below 1 */
    double *register_ready_at;
    u8 *register_reason; /* by register: enum stall of a reader */
    u32 *access_index;   /* by instruction: 1 + index of its access in the trace; 0 = none */
    struct partial_store previous_store, current_store;
    bool running, at_barrier;
    struct async_groups cp_async_groups, wgmma_groups;
    bool pipe_reserved;   /* its pipe is reserved; it needs only an issue slot */
    bool at_grid_barrier; /* it waits until all blocks have arrived at the grid barrier */
    double drained_at;    /* when L2 has executed its atomics so far: only then does it end */
    double held_until;    /* it can't issue before this time: the release of a grid barrier */
};

struct sm_block {
    u32 nwarps, running_warps, barrier_arrivals;
    u32 trace_reuse; /* how often its trace has been used before */
    double end_time;
    double cluster_arrived_at; /* when its last warp arrived at the cluster's barrier */
    bool relaxed_arrival;      /* that arrival was relaxed: it released nothing */
    u32 grid_arrivals;         /* arrivals at the grid barrier */
    struct mbarrier_slot mbarriers[MBARRIER_SLOTS]; /* by offset; later ones replace others */
    struct sector_set sectors;
};

/* The grid barrier, as the SM's resident blocks see it. */
struct sm_grid_barrier {
    u32 generation;      /* number of completed barriers */
    double last_arrival; /* of this generation */
    double released_at;  /* of the last generation */
    double total_cycles; /* of all generations */
    bool changed;        /* a block has arrived or ended since the last test */
};

/* Data on their way to L1, in the order of the loads: when they arrive, and the wavefronts that
 * they take then. */
enum { MAX_L1_ARRIVALS = 64 };
struct l1_arrivals {
    struct {
        double at, wavefronts;
    } queue[MAX_L1_ARRIVALS];
    u32 first, n;
};

struct sm_model {
    const struct replay_input *in;
    const struct gpu_device *d;
    struct sm_warp *warps;
    struct sm_block *blocks;
    u32 warps_per_block;
    u32 *heap, nheap;
    double issue_free_at[SCHEDULERS_PER_SM], pipe_free_at[PIPE_COUNT][SCHEDULERS_PER_SM];
    double issue_interval[PIPE_COUNT]; /* cycles of a warp instruction on the pipe */
    double lsu_free_at, l1_free_at, l2_free_at, link_free_at, dram_free_at;
    struct l1_arrivals l1_arrivals;
    double stores_free_at; /* when memory has served the stores so far, if they had come alone */
    double dram_load, dram_load_at; /* recent utilization, 0..1; the time of its last update */
    u64 dram_requests;              /* so far */
    double busy_cycles[RESOURCE_COUNT], stall_cycles[SIM_STALL_COUNT];
    double (*op_stalls)[SIM_STALL_COUNT];        /* by op and stall reason: cycles of all warps */
    double l2_sector_cycles, dram_sector_cycles; /* cycles of a sector */
    double lat_l1, lat_l2, lat_dram, lat_shared, lat_fence, lat_atomic;
    struct cache l1_cache, l2_cache;
    bool l2_limited;        /* a wave's footprint exceeds L2 */
    double spill_miss_rate; /* of L1, of loads of spilled registers, whose addresses are unknown */
    u64 spill_accesses;     /* so far */
    /* Shares of local memory's sectors that L2 fetches from DRAM, and that it writes back. */
    double local_fetched, local_written_back;
    double next_dispatch;   /* when the next block can start */
    double barrier_free_at; /* when the unit that counts barrier arrivals is free */
    struct sm_grid_barrier grid_barrier;
    double *dram_sectors_owed;  /* by buffer and verb: DRAM sectors still to be transferred */
    double atomics_executed_at; /* of the last access; where L2 lacks the sector, it keeps them */
    struct atomic_unit *atomic_units;
    u32 atomic_slots, sampled_blocks; /* sampled: traced blocks, without the base's neighbours */
    double l1_hits, l1_sectors, l2_hits, l2_sectors;
    double *block_end_times;
    u32 blocks_done, blocks_started;
    u64 insns_issued;
};

/* Adds cycles that a warp spends at an instruction. */
static inline void add_op_stall(struct sm_model *m, u32 op, enum sim_stall_reason reason,
                                double cycles) {
    m->op_stalls[op][reason] += cycles;
}
static inline double max2(double a, double b) { return a > b ? a : b; }
/* Returns when L2 and DRAM have served all requests so far. */
static inline double memory_free_at(const struct sm_model *m) {
    return max2(m->l2_free_at, m->dram_free_at);
}
/* Adds what a store at `t` has added to memory's queue, which was free at `before`. */
static inline void queue_store(struct sm_model *m, double t, double before) {
    m->stores_free_at = max2(m->stores_free_at, t) + max2(0, memory_free_at(m) - max2(before, t));
}
static inline bool is_disabled(const struct sm_model *m, unsigned bit) {
    return m->in->disabled_terms & bit;
}

/* replay_memory.c: models an access; returns when its data arrives, and in `reason` the enum stall
 * of a reader. */
double time_memory_access(struct sm_model *m, struct sm_warp *w, const u64 *p, double t,
                          u8 *reason);
/* Runs wavefronts through L1's data stage, counted for resource `r`; returns when they are done. */
double time_memory_l1(struct sm_model *m, double t, double wavefronts, enum resource r);
/* Sends sectors through the SM's share of L2; returns when L2 has them. */
double time_memory_l2(struct sm_model *m, double t, double sectors);
/* Models an update of a line's sectors, of which the block accesses `first` for the first time. If
 * they are in DRAM, `cost` sectors move; returns when the data arrives, else `t`. */
double time_memory_dram(struct sm_model *m, u64 line, u32 sectors, u32 first, double cost,
                        double t);

/* Returns what a store to a line costs L2, in sectors read: sectors written wholly, and in part. */
double time_memory_store_sectors(const struct sm_model *m, double full, double partial);
/* Returns when DRAM starts to move sectors. */
double time_memory_dram_transfer(struct sm_model *m, double t, double sectors);

/* ---- replay_local.c ---- */

double time_local_access(struct sm_model *m, const struct sm_warp *w, const u64 *p, double t,
                         u8 *reason);
/* Models an access to a spilled register whose place in the code is unknown, so no reader waits.
 * Returns when the warp can issue its next instruction. */
double time_local_spill(struct sm_model *m, double t);
/* Models one that machine code shows; returns when its data arrives. */
double time_local_sass_spill(struct sm_model *m, double t, bool is_store);
void time_local_open(struct sm_model *m, double l1_bytes);

/* ---- replay_atomics.c ---- */

/* Sets up a unit for each sector and slice that the traces' atomics use. */
void time_atomic_open(struct sm_model *m, const struct sim_trace *t);
/* Models an access; returns when its result arrives, and in `reason` what a reader waits for. */
double time_atomic_access(struct sm_model *m, struct sm_block *b, const u64 *p, double t,
                          const struct mem_desc *d, u8 *reason);
/* Returns when the units of the access at `p` are free. */
double time_atomic_free_at(struct sm_model *m, const u64 *p);
/* Returns when all units are free, at least `end`. */
double time_atomic_drain_time(const struct sm_model *m, double end);
/* Adds the busy cycles of the busiest unit of each kind to the resources. */
void time_atomic_add_busy(struct sm_model *m);

/* replay_trace.c: sets the warp's next region, or chunk of machine code; returns false at the end
 * of its trace. */
bool time_next_region(struct sm_model *m, struct sm_warp *w);

/* replay_async.c: adds a wgmma, or the load of a cp.async, that completes at `ready`. */
void time_wgmma_begin(struct sm_warp *w, double ready);
void time_cp_async_begin(struct sm_warp *w, double ready, u8 reason);
/* Commits a group, or waits for groups. */
void time_async_group(struct sm_model *m, struct sm_warp *w, const struct op *o);
/* Models an mbarrier's word of the trace at `t`: a wait, or an arrival of a bulk copy that is
 * complete then (`bulk`) or of the warp's cp.async. Returns when a wait ends. */
double time_mbarrier_access(struct sm_model *m, struct sm_warp *w, const u64 *word, double t,
                            bool bulk, u8 *reason);

/* replay_grid_barrier.c: models the grid barrier's word of the trace at `t`: a block arrives, or
 * polls. Returns when the value that it reads arrives. */
double time_grid_access(struct sm_model *m, struct sm_warp *w, u64 word, double t, u8 *reason);
/* Completes the generation and returns true if all running blocks have arrived. */
bool time_grid_try_release(struct sm_model *m);
/* Completes generations until no block waits. */
void time_grid_force_release(struct sm_model *m);

/* sm_model.c */
void time_sm_open(struct sm_model *m, const struct replay_input *in);
void time_sm_close(struct sm_model *m);
void time_sm_results(struct sm_model *m, struct replay_result *out);
