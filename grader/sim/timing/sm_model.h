/* sm_model.h — the SM that a replay runs, shared by replay.c (issue), replay_memory.c (L1, L2,
 * DRAM), replay_atomics.c, replay_async.c, replay_grid_barrier.c and sm_model.c (its rates, caches,
 * tables; its results). */
#pragma once
#include "grader/sim/timing/internal.h"

enum { SCHEDULERS_PER_SM = 4 };
/* Cycles of work that may be queued before a warp has to wait: loads and stores on their way to L1,
 * stores on their way to L2. No source; between half and twice these values results hardly change.
 */
static const double l1_queue_cycles = 64, l2_queue_cycles = 600, atomic_queue_cycles = 600;

#define L2_SLICE_KEY (1ull << 63)
struct atomic_unit {         /* a word that atomics update, or a slice of L2 that does them */
    u64 key;                 /* address, or L2_SLICE_KEY | number; 0 = empty */
    u64 last_sector;         /* of a slice: its last one */
    u32 nblocks, last_block; /* traced blocks that go there; the last one seen, + 1 */
    double free_at, busy_cycles;
};

/* Lines that a store of the warp wrote in part; open: few enough for the next one to fill them up.
 */
struct partial_store {
    u64 line[6];
    u8 n;
    bool mergeable;
};

enum { MAX_ASYNC_GROUPS = 16, MBARRIER_SLOTS = 32 };

/* An mbarrier that bulk copies come to. */
struct mbarrier_slot {
    u64 offset; /* its offset + 1; 0 = empty */
    double done_at;
    u8 reason; /* whom a wait there then waits for */
};

/* What a warp began and does not wait for, until it waits for a group. */
struct async_groups {
    double done_at, group_done_at[MAX_ASYNC_GROUPS]; /* when all so far are; the groups of them */
    u32 ngroups;
    u8 reason;
};

struct sm_warp {
    const struct trace_warp *trace;
    u32 at;
    struct region *region;
    struct chunk chunk; /* in its place where machine code is at hand */
    u32 insn_index, block_slot, scheduler;
    double ready_at, issued_at;
    double operands_ready_at, unit_free_at; /* of the next instruction: when its operands are there,
                                   when its unit takes it */
    double spills_owed;                     /* accesses to spilled registers, owed: below 1 */
    double *register_ready_at;
    u8 *register_reason; /* by register: whom a reader waits for */
    u32 *access_index;   /* by step: where its access stands in the stream, + 1; 0 = none */
    struct partial_store previous_store, current_store; /* its last store, and the one at hand */
    bool running, at_barrier;
    struct async_groups cp_async_groups, wgmma_groups; /* its cp.async; its warpgroup's products */
    bool unit_reserved;   /* its unit is reserved: only the issue slot is missing */
    bool at_grid_barrier; /* it waits until all blocks have come to the barrier of the grid */
    double held_until;    /* until then it goes no further, since it saw them come */
};

struct sm_block {
    u32 nwarps, running_warps, barrier_arrivals,
        trace_reuse; /* copy: how often its trace has been used before */
    double end_time,
        cluster_arrived_at; /* came: when its last warp came to the barrier of the cluster */
    bool relaxed_arrival;   /* and whether that released nothing */
    u32 grid_arrivals;      /* how often it came to the barrier of the grid */
    struct mbarrier_slot
        mbarriers[MBARRIER_SLOTS]; /* by place; a later one takes the place of another */
    struct sector_set sectors;
};

/* The barrier of the grid, as the SM's resident blocks see it. */
struct sm_grid_barrier {
    u32 generation;                   /* how often all met */
    double last_arrival, released_at; /* when the last block came in the phase at hand; when the
                                         last phase let them go */
    double total_cycles;              /* of all barriers */
    bool changed;                     /* a block came, or ended */
};

struct sm_model {
    const struct replay_input *in;
    const struct gpu_device *d;
    struct sm_warp *warps;
    struct sm_block *blocks;
    u32 warps_per_block; /* of a block */
    u32 *heap, nheap;
    double issue_free_at[SCHEDULERS_PER_SM], unit_free_at[UNIT_COUNT][SCHEDULERS_PER_SM],
        issue_interval[UNIT_COUNT];
    double lsu_free_at, l1_free_at, l2_free_at, dram_free_at;
    double dram_load, dram_load_at; /* of late: part of the time; when that was last noted */
    u64 dram_requests;              /* so far */
    double busy_cycles[RESOURCE_COUNT], stall_cycles[STALL_COUNT];
    double (*op_stalls)[SIM_STALL_COUNT];        /* by op: cycles of warps, and on what */
    double l2_sector_cycles, dram_sector_cycles; /* of a sector */
    double lat_l1, lat_l2, lat_dram, lat_shared;
    struct cache l1_cache, l2_cache;
    bool l2_limited, local_exceeds_l1;
    double local_dram_fraction; /* part of local memory's sectors that L2 cannot hold */
    double next_dispatch;       /* when the next block can start */
    double barrier_free_at;     /* when the unit that counts arrivals is free */
    struct sm_grid_barrier grid_barrier;
    double *dram_sectors_owed; /* DRAM sectors owed, by buffer and verb */
    struct atomic_unit *atomic_units;
    u32 atomic_slots, sampled_blocks; /* traced blocks that are spread over the grid */
    double l1_hits, l1_sectors, l2_hits, l2_sectors;
    double *block_end_times;
    u32 blocks_done, blocks_started;
    u64 insns_issued;
};

/* Cycles that a warp spends at an instruction. */
static inline void add_op_stall(struct sm_model *m, u32 op, enum sim_stall_reason reason,
                                double cycles) {
    m->op_stalls[op][reason] += cycles;
}
static inline double max2(double a, double b) { return a > b ? a : b; }
static inline bool is_disabled(const struct sm_model *m, unsigned bit) {
    return m->in->disabled_terms & bit;
}

/* replay_memory.c: what an access takes; returns when its data is there, `why`: whom a reader then
 * waits for. */
double time_memory_access(struct sm_model *m, struct sm_warp *w, const u64 *p, double t,
                          u8 *reason);
/* An access of a warp to a register that ptxas spills; no reader is known to wait. Returns when the
 * next instruction can follow. */
double time_memory_spill(struct sm_model *m, double t);
/* The same of one that machine code shows: when its data is there. */
double time_memory_sass_spill(struct sm_model *m, double t);
/* An access's passes through L1's data stage, counted for `r`; sectors through the SM's part of L2.
 * When they are through, and when L2 has them. */
double time_memory_l1(struct sm_model *m, double t, double wavefronts, enum resource r);
double time_memory_l2(struct sm_model *m, double t, double sectors);
/* A line's sectors, of which the block touches `first` for the first time: where they are in DRAM,
 * `cost` sectors move, and the data are there when this says; else at `t`. */
double time_memory_dram(struct sm_model *m, u64 line, u32 sectors, u32 first, double cost,
                        double t);

/* replay_atomics.c: the same for atomics; when those before one are done; when all are; what they
 * keep busy. */
void time_atomic_open(struct sm_model *m, const struct sim_trace *t);
double time_atomic_access(struct sm_model *m, struct sm_block *b, const u64 *p, double t,
                          const struct mem_desc *d, u8 *reason);
double time_atomic_backlog(struct sm_model *m, const u64 *p);
double time_atomic_drain_time(const struct sm_model *m, double end);
void time_atomic_add_busy(struct sm_model *m);

/* replay_async.c: a load of a cp.async, whose data are there then; cp.async.group; a mark of the
 * trace at `t`, `bulk`: of a bulk copy that is done then, else of the warp's cp.async. Returns when
 * the next instruction has what it waits for. */
/* A product of the warpgroup is there then: who waits for its group waits so long. */
void time_wgmma_begin(struct sm_warp *w, double ready);
void time_cp_async_begin(struct sm_warp *w, double ready, u8 reason);
void time_async_group(struct sm_model *m, struct sm_warp *w, const struct op *o);
double time_mbarrier_access(struct sm_model *m, struct sm_warp *w, const u64 *word, double t,
                            bool bulk, u8 *reason);

/* replay_grid_barrier.c: the barrier of the grid. A mark of the trace at `t`: a block comes, or looks
 * whether all have; returns when what it reads is there. Whether all have come since, so that who
 * waits can go on; the same by force. */
double time_grid_access(struct sm_model *m, struct sm_warp *w, u64 word, double t, u8 *reason);
bool time_grid_try_release(struct sm_model *m);
void time_grid_force_release(struct sm_model *m);

/* sm_model.c */
void time_sm_open(struct sm_model *m, const struct replay_input *in);
void time_sm_close(struct sm_model *m);
void time_sm_results(struct sm_model *m, struct replay_result *out);
