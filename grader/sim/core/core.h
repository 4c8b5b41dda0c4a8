/* core.h — how decoded code runs: grids, blocks, warps and their fragments.
 *
 * Theory of operation. A worker thread takes blocks from the launch, one after another, and runs
 * each warp of the block until it waits or exits. The lanes of a warp are held in *fragments*:
 * groups of lanes that share a place in the code and a call stack. A branch whose lanes disagree
 * splits a fragment; fragments at the same place merge. The fragment deepest in calls and earliest
 * in the code runs first, which brings diverged lanes together at the first place that they share;
 * a fragment that runs long while others wait gives way, so that every lane makes progress.
 *
 * Code is a sequence of segments: straight-line lane instructions and one control instruction at
 * the end. A segment always runs whole, so counting one execution of it counts all of its
 * instructions. */
#pragma once
#include "grader/sim/code/code.h"
#include "grader/sim/core/trace.h"

#include <pthread.h>
#include <stdatomic.h>

struct sim {
    struct sim_options options;
    struct memory memory;
    struct sim_module *modules;
    struct buf printf_output, assert_output; /* of printf, of assert */
    pthread_mutex_t output_lock;
    uint64_t heap_used;
    struct race_shadow *race_shadows; /* by worker, kept from launch to launch */
    unsigned nrace_shadows;
    struct race_streams *streams; /* race/streams.c; NULL = all commands are in order */
    struct undef_origin_table
        *undef_origins; /* undef.h: where undefined values came from; NULL = none yet */
    uint64_t launch_count;
    /* Launches by kernels (device_launch.c): with parameters still to come, to run, to run last. */
    struct device_launch *prepared_launches, *pending_launches, *tail_launches;
    uint32_t npending_launches, launch_depth,
        device_error;             /* depth: of the launch at hand, 0 = by the host */
    struct sim_texture *textures; /* by handle; address 0 = free: sim/texture.c */
    uint32_t ntextures;
    /* Since sim_begin_shared_budget, where launches share the budget: warp instructions, and what
     * core_add_simulation_cost adds to them. */
    bool is_budget_shared;
    uint64_t spent_insns, simulation_cost;
    uint64_t grid_workspace; /* device address of what cooperative groups' grid barrier works on; 0
                                = none yet */
    uint64_t error_strings;  /* the same of what device code can ask for: errors' names and texts */
};

/* ---- running ---- */

struct warp_split {
    u32 pc;      /* op index */
    u32 mask;    /* its lanes; never 0 */
    u32 context; /* call stack: index into the worker's contexts */
    u8 state;
    u8 barrier_id;
    u8 reconverged; /* it came from a rendezvous that it has not left: it may merge whatever the
                       schedule */
    u64 vruntime;   /* when it last ran: for fairness */
};
enum { SPLIT_READY, SPLIT_AT_BARRIER, SPLIT_AT_WARP_SYNC, SPLIT_AT_CLUSTER_BARRIER };

struct call_context { /* one call stack: an interned list of return places */
    u32 parent, call_op, code, depth;
    u32 first_child, next_sibling; /* contexts called from here; 0 = none */
    u32 frame, local;              /* byte offsets of this function's frame and local variables */
};

/* Since the block's last barrier, lanes took a branch that leads round a barrier: how often each,
 * and the last such branch. */
struct barrier_skips {
    u8 count[32];
    u32 branch_op;
};

/* Threads that left the block after they had gone round a barrier. */
struct exit_after_skip {
    u32 thread_count, thread; /* how many; the one that went round most often, and how often */
    u32 skip_count, branch_op, exit_op;
};

struct warp {
    u32 index, live_lanes, nsplits;
    struct warp_split splits[32];
    unsigned char *frames, *special_regs, *local;
    unsigned char *local_written; /* a byte for each of local, in the same order */
    unsigned char *undef;         /* undefined bits, laid out as the frames: undef.h */
    u8 *undef_origin;             /* where they come from, by 4 bytes of a frame */
    u32 nundef, undef_end;        /* slots with undefined bits; bytes of taint that were ever set */
    u64 warp_insns;               /* warp instructions, for the budget */
    u32 bar_arrived_lanes[16]; /* lanes that came to each barrier by bar.arrive, until all have */
    u32 sync_epoch;            /* between barriers of the warp or a part of it, for races */
    u32 warp_sync_epoch;       /* …that began with a barrier of the whole warp */
    struct barrier_skips *barrier_skips; /* by number of the barrier: bar_desc.fork */
    bool skipped_barrier;                /* some of them are not zero */
    u32 cluster_arrived_lanes, cluster_released_lanes, fenced_lanes; /* lanes: core/cluster.c */
    bool fetched_ticket;  /* since its turn began, in a traced launch */
    bool at_sync_point;   /* its turn ended where blocks meet: core/clock_scheduler.c */
    u64 timeslice_start;  /* what it had executed when the turn at hand began there */
    bool at_grid_barrier; /* one of its lanes waits until all blocks have come: core/grid_barrier.c
                           */
};

struct cluster; /* core/cluster.h */

struct barrier {
    bool used;
    u32 arrived_warps;    /* warps that came by bar.arrive, with all their lanes */
    u32 expected_threads; /* threads; 0 = all of the block that have not exited */
    u32 reduction[2];     /* threads whose predicate is true; threads */
    u32 first_waiter_op, first_waiter_thread; /* who came first, by bar.sync */
    bool has_waiters;                         /* someone did */
};

struct block {
    u32 index[3];
    u64 linear, warp_insns; /* executed: warp instructions, for the budget */
    u64 launch_order;       /* place in the order in which blocks are taken: whose report is kept */
    struct cluster *cluster;
    u32 cluster_rank; /* in its cluster */
    u64 *remote_write_epochs,
        *remote_read_epochs; /* stamps by granule, in clusters: race/cluster.c */
    u32 nwarps;
    struct warp *warps;
    unsigned char *shared, *values;  /* values: BASE_BLOCK */
    unsigned char *shared_written;   /* a byte a byte */
    u32 *write_epochs, *read_epochs; /* stamps by granule of shared memory: race/exec_shared.c */
    u32 sync_epoch;                  /* between barriers of the block, from 1 */
    u32 block_sync_epoch;            /* …that began with a barrier of all threads */
    u32 recorded_epoch; /* the interval in which stamps were last needed: reads before that may wait
                         */
    u32 logical_clock, acquire_clock;       /* for races in global memory, see race/exec_global.c */
    u32 fence_clock, relaxed_acquire_clock; /* with the strict memory model: the last fence; what
                                               `acquired` would be without */
    struct race_shadow *race_shadow;        /* of its worker */
    struct barrier barriers[BARRIERS_PER_BLOCK];
    struct async_copies *async_copies; /* copies under way: race/async.h; NULL = none yet */
    struct wgmma_queue *wgmma_pending; /* of warpgroups, likewise: race/wgmma_pending.h */
    struct race_warpgroups
        *warpgroups;          /* what they owe their products: race/warpgroup.h; NULL likewise */
    struct race_proxy *proxy; /* what threads wrote that others than threads read: race/proxy.h;
                                 NULL = nobody does */
    struct inflight *inflight_copies; /* …as they are counted: count/inflight.h; NULL = none yet */
    struct vector_clocks *vector_clocks; /* what orders some of the threads: race/vector_clock.h;
                                            NULL = nothing yet */
    struct exit_after_skip *exits_after_skip; /* by number of the barrier, since the last barrier */
    bool skipped_barrier;                     /* a warp, or one that left */
    u32 exited_threads, first_exited_thread,
        first_exit_op; /* threads that left; the first of them, and where */
    bool exit_reported;
    size_t mapping_bytes; /* of the mapping that begins at warps */
    bool done;
    struct trace_block *trace;                   /* NULL: not sampled */
    struct sim_block_work work;                  /* core/block_work.c */
    u32 grid_arrivals, grid_observed_generation; /* to the barrier of the grid: how often; of how
                              many times it saw that all had: core/grid_barrier.c */
    u32 grid_word_at_arrival;                    /* what the barrier's word held then */
    double sched_clock; /* of the device, to which it has got on; the piece of work that it is at:
                     core/clock_scheduler.c */
    u64 work_item;
    struct sim_block_work work_at_arrival; /* what it had done when it last came there */
};

/* Statistics of one memory instruction in one launch. */
enum mem_stat {
    STAT_REQUESTS,
    STAT_LANES,
    STAT_SECTORS,
    STAT_IDEAL_SECTORS,
    STAT_WAVEFRONTS,
    STAT_MIN_WAVEFRONTS,
    STAT_OPS,
    STAT_SERIALIZED,
    STAT_MAX_MULTIPLICITY,
    STAT_INFLIGHT, /* of asynchronous copies: count/inflight.h */
    STAT_COUNT
};

/* What the last execution of a memory instruction looked like: the relative addresses decide the
 * counts. Begins at a line of the cache, and what every execution reads lies in the next one. */
struct access_pattern {
    _Alignas(64) s32 lane_offset[32];  /* to the first active lane; 0 for inactive ones */
    u64 base;                          /* where the first active lane's was, last time, */
    u32 last_mask;                     /* …and the lanes; 0 = too far apart for a pattern */
    u32 pattern_serial, reused_serial; /* of the pattern; that of the access that this one repeats,
                         known to be the same: code/address_reuse.c */
    u32 mask;
    s32 min_offset, max_offset; /* range of relative */
    u32 offset_bits;            /* or of relative: alignment */
    u32 lane_count, ideal_sectors, wavefronts, min_wavefronts,
        max_multiplicity; /* packed: sectors if perfectly packed */
    int allocation;       /* the last one hit, or -1 */
    u32 valid_alignments; /* bit p: sectors_by_alignment[p] holds the sectors for a first address of
                             p modulo 32 */
    u8 sectors_by_alignment[32];
    u8 valid, shape;         /* SHAPE_… */
    u8 wavefront_lane_bytes; /* bytes a lane that wavefronts are counted for; 0 = as many as it
                                accesses */
    u8 is_store;             /* lanes that want the same share a wavefront of loads only */
    u8 nruns;                /* 0 = not looked at yet; see pattern_runs */
    u32 first_lane_mask,
        duplicate_mask; /* first lane at each distinct address; lanes that share theirs */
    u32 pattern_slot;   /* 1 + its number in the worker's list of patterns; 0 = not there:
                         * race/exec_shared.c
                         */
    struct {
        s32 offset;
        u32 bytes;
    } runs[32]; /* the bytes touched, relative, as stretches without a gap */
};
enum {
    PATTERN_ANY,
    PATTERN_UNIFORM,
    PATTERN_UNIT_STRIDE
}; /* dense: lane l at l × span, all lanes active */

/* What lane functions see. */
struct exec {
    unsigned char *base[BASE_COUNT];
    u32 active_mask; /* lanes of the running fragment */
    u32 local_base;  /* of the running function, bytes per lane */
    struct warp *warp;
    struct block *block;
    struct cluster *cluster; /* of the block; NULL where the launch has none */
    struct worker *worker;
    u32 fast_mask; /* …for which the fast loop goes on: 0 once a load met undefined bytes */
    const struct op *undef_load; /* that load */
    bool faulted;                /* stop at the end of the segment */
    bool sanitize, tracks_global_races, tracks_happens_before;
    /* shortcuts into launch, worker and block */
    const struct mem_desc *mems;
    u64 (*stats)[STAT_COUNT];
    struct access_pattern *pattern_cache;
    struct memory *memory;
    unsigned char *shared, *shared_written;
    u32 shared_bytes, local_bytes;
    struct trace_block *trace; /* of the running block, or NULL */
};

/* The operand's slot, for the function that runs. */
static inline void *operand_at(const struct exec *x, ref r) {
    return x->base[ref_base(r)] + ref_offset(r);
}

/* How an access counts for races. */
enum race_access_kind {
    RACE_READ,
    RACE_WRITE,
    RACE_RED,              /* an atomic whose result is not used, a strong store */
    RACE_STRONG_LOAD,      /* a strong load */
    RACE_ATOM,             /* an atomic whose result is used */
    RACE_READ_REVALIDATED, /* a plain load of what an atomic then checks again: code/cas_retry.c */
};

struct launch;
struct race_shadow; /* race/race.h */

/* What the search for races (race/) wants to be told while blocks run. */
struct race_callbacks {
    void (*on_block_sync)(
        struct block *b,
        const struct launch *l); /* a barrier of the block passed, or a block starts */
    /* Lanes of a warp met: with `fence`, what they did before is ordered (__syncwarp), else they
     * just met. */
    void (*on_warp_sync)(struct block *b, struct warp *w, u32 lanes, bool fence,
                         const struct launch *l);
    /* A warp came to a barrier by bar.arrive; one that not all threads wait for is complete, and
     * releases those warps. */
    void (*on_barrier_arrive)(struct block *b, const struct warp *w, u32 barrier,
                              const struct launch *l);
    void (*on_barrier_release)(struct block *b, u32 barrier, u32 warps, const struct launch *l);
    void (*on_pending_copy_access)(struct exec *x, struct block *b, const struct op *o, u32 lane,
                                   u64 offset, u32 bytes, const char *verb); /* async.h */
    void (*on_block_start)(struct block *b, const struct launch *l);
    bool (*on_block_exit)(struct exec *x);  /* its threads are; false: a fault was reported */
    void (*on_block_free)(struct block *b); /* its memory goes */
    u32 (*advance_clock)(
        struct block *b); /* of its worker's time: what was done so far is past then */
};

struct worker {
    struct exec exec;
    struct race_shadow *race_shadow;
    u32 launch_clock; /* the plane's tick when the launch began */
    struct launch *launch;
    u32 index;
    struct call_context *contexts;
    u32 ncontexts, contexts_capacity;
    u32 first_free_context, context_sweep_limit; /* a list through next_sibling; how many before a
                                        sweep, 0 = the usual number */
    u64 *segment_runs, *segment_lanes;
    u64 *branch_runs, *branch_diverged; /* by segment */
    u32 deadline_checks;
    bool fetched_ticket; /* the turn ended since a warp was about to draw from a counter again:
                          * core/launch.c
                          */
    u64 (*stats)[STAT_COUNT];
    struct access_pattern *pattern_cache;
    u64 warp_insns;                       /* warp instructions, all blocks */
    struct sim_block_work accounted_work; /* of them, what was told to a block: core/block_work.c */
    u64 timeslice;
    struct undef_report *undef_reports; /* by origin, what this worker saw: core/undef_report.c */
    const struct op *last_undef_op;     /* …the last one, and its number */
    u8 last_undef_origin;
    struct tensor_map_updates *
        tensor_maps; /* tensor maps that its blocks changed: race/tensor_map_proxy.h; NULL = none */
    struct sim_report reports[SIM_FAULT_COUNT];
    u64 report_order[SIM_FAULT_COUNT]; /* linear block of the report kept: the lowest wins */
    enum sim_fault fault;
    u64 fault_block;
    struct block *blocks; /* resident ones; [0] is enough unless blocks wait for each other */
    u32 nblocks, blocks_capacity;
    struct cluster **clusters; /* the same of a launch of clusters */
    u32 nclusters, clusters_capacity;
    pthread_t thread;
};

/* The barrier over all blocks of a cooperative launch: core/grid_barrier.c. */
struct grid_barrier {
    u64 word_address;   /* its address; 0 = the launch has none */
    u64 arrived_blocks; /* blocks, in the phase at hand */
    u32 generation;     /* how often all met */
    u32 release_clock;  /* the worker's tick when they last did: what blocks had done by then is
                           ordered */
    bool abandoned;
    struct sim_block_work summed_max_work, max_block_work; /* of each phase that is over, what the
                                        block did that did most of it, summed; of this one */
};

struct launch {
    struct sim *sim;
    const struct sim_module *module;
    const struct sim_func *code;
    const struct sim_launch *request;
    const char *(*check_config)(struct sim *s, const struct sim_launch *l,
                                struct err *e); /* sim_check_launch */
    const struct op *ops;
    op_fn *const *op_fns;
    u64 launch_id; /* of the device's launches */
    u64 nblocks;
    u32 cluster_dims[3], cluster_blocks;     /* 1 where there are no clusters */
    bool has_clusters, tracks_cluster_races; /* blocks run cluster by cluster; what they do in each
                                      other's memory is noted */
    u64 *cluster_ids, ncluster_ids;          /* clusters to run, by number */
    const u64 *selected_blocks; /* the blocks to run, ascending; NULL = all, or what sim_set_sample
                                   leaves */
    u32 nselected_blocks;
    struct sim_trace *trace; /* of the blocks that it names; NULL = none */
    struct grid_barrier grid_barrier;
    struct clock_scheduler *clock_sched; /* NULL: blocks run in turns */
    bool clock_ordered;                  /* …it had one */
    u32 nthreads, nwarps, shared_bytes;
    u32 warp_frame_bytes, thread_local_bytes;
    atomic_ulong next_block;
    atomic_ulong fault_block; /* the lowest block that faulted; blocks above it need not run */
    atomic_ulong finished_warp_insns; /* of finished blocks */
    atomic_ulong simulation_cost; /* core_add_simulation_cost, and that of the launches before where
                                     they share a budget */
    pthread_mutex_t work_lock;    /* of the next two, of finished blocks: core/block_work.c */
    struct sim_block_work total_work, max_block_work;
    atomic_int abort_fault; /* enum sim_fault: the launch as a whole used up its budget or time */
    u64 insn_budget;
    double deadline; /* monotonic seconds; 0 = none */
    bool sanitize, adversarial_schedule;
    u8 timeslice_log2;           /* log2 of instructions: core/warp_split.c */
    atomic_bool has_shared_race; /* a race in shared memory was told: then what is not written yet
                                 is no news */
    bool blocks_depend;          /* a traced block did not get on alone */
    bool tracks_global_races;    /* note accesses to global memory */
    bool tracks_happens_before;  /* …as they come, on one worker: race/happens_before.c */
    bool reverse_block_order;    /* sim_options.later_first */
    bool random_order; /* …and blocks look at what others leave: who has its turn is by lot */
    bool strict_order; /* sim_options.strict_order */
    const struct race_callbacks *race_callbacks; /* set where sanitize is */
    u32 global_shift, shared_shift; /* 2: races are told by words; 0: by bytes, in kernels that
                                       access less than words */
    unsigned nworkers;
    struct worker *workers;
};

/* core/warp.c: runs a warp until it waits, ends, faults or uses up `quantum` instructions. */
enum warp_state { WARP_DONE, WARP_WAITING, WARP_YIELDED, WARP_FAULTED };
enum warp_state warp_run(struct exec *x, struct warp *w, u64 quantum);

/* For what costs much more to simulate than the instructions that call for it (matrix products,
 * bulk copies, the start of a block): so many plain instructions of some 20 ns. They have a budget
 * of their own, as large as that of instructions; the launch stops where it is used up. */
static inline void core_add_simulation_cost(struct launch *l, u64 units) {
    u64 budget = l->sim->options.instruction_budget;
    u64 total = atomic_fetch_add_explicit(&l->simulation_cost, units, memory_order_relaxed) + units;
    if (budget && total > budget) atomic_store(&l->abort_fault, SIM_FAULT_INSN_BUDGET);
}

/* core/warp_split.c */
u8 split_timeslice_log2(
    const struct sim_func *c); /* log2 of the instructions after which a fragment lets others run */
void split_init(struct warp *w, u32 lanes, u32 pc);
/* The fragment to run next, after merging what has met; NULL if all wait. */
struct warp_split *split_select(struct worker *k, struct warp *w);
void split_diverge(struct warp *w, struct warp_split *f, u32 lanes,
                   u32 pc);                                       /* lanes leave f for pc */
void split_exit(struct warp *w, struct warp_split *f, u32 lanes); /* lanes exit; f may vanish */

/* core/barrier.c, core/warp_sync.c, core/call.c: the control instructions. */
void barrier_arrive(struct exec *x, struct warp_split *f, const struct op *o);
void cluster_wait(struct exec *x, struct warp_split *f, const struct op *o);
void barrier_try_release(
    struct exec *x); /* lanes arrived or exited: releases barriers that are now complete */
/* A branch of those that may lead round barriers (OPF_BARRIER_BYPASS), which `taken` of the lanes
 * take; lanes that leave at an op. */
void barrier_record_skips(struct exec *x, const struct op *o, u32 lanes, u32 taken);
void barrier_record_exit(struct exec *x, const struct op *o, u32 lanes);
void barrier_clear_skips(struct block *b, u32 nbarriers);
/* core/deadlock.c: no warp of the block can go on: says who waits for whom. */
void barrier_report_deadlock(struct exec *x);
/* A fragment comes to a rendezvous: it goes on if all lanes that its mask names are there, else it
 * waits. */
void warp_sync_arrive(struct exec *x, struct warp_split *f, const struct op *o);
/* No fragment of the warp can run: completes rendezvous whose lanes wait at different places. True
 * if one did. */
bool warp_sync_resolve(struct exec *x, struct warp *w);
void call_enter(struct exec *x, struct warp_split *f, const struct op *o);
void call_return(struct exec *x, struct warp_split *f);
/* core/builtin.c: printf, malloc, free, assert of device code. `frame` is the caller's. */
void call_builtin(struct exec *x, const struct call_desc *d, u32 mask, const struct op *o,
                  unsigned char *frame);

/* core/block.c */
bool block_allocate(struct launch *l, struct block *b); /* false: out of memory */
void block_free(const struct launch *l, struct block *b);
void block_start(struct worker *k, struct block *b, u64 linear);
/* Runs each warp until it waits or has used `quantum`; WARP_YIELDED: call again. */
enum warp_state block_run(struct worker *k, struct block *b, u64 quantum);

/* core/report.c: notes a fault or finding at an op. `text` says the rest. */
void core_fault(struct exec *x, enum sim_fault fault, const struct op *o, unsigned lane,
                u64 address, const char *format, ...) __attribute__((format(printf, 6, 7)));

/* The same in two steps: what is to be said, and noting it. */
void core_format_report(const struct exec *x, struct sim_report *r, enum sim_fault fault,
                        const struct op *o, unsigned lane, u64 address, const char *format, ...)
    __attribute__((format(printf, 7, 8)));
void core_report(struct exec *x, const struct sim_report *r);

/* Sorted by block: the reports of all workers into the result. */
void core_collect_reports(struct launch *l, struct sim_result *out);

/* core/launch.c: a grid of blocks on workers, in these steps. */
void launch_prepare(struct launch *l, struct sim *s, const struct sim_launch *r);
bool launch_open(struct launch *l); /* makes the workers; false: out of memory */
enum { LAUNCH_TIMESLICE = 20000 /* instructions of a warp */ };
/* Another place for a block, while there are less than `most`; the next block that has not begun,
 * put there. False: none. */
bool launch_add_resident(struct worker *k, u32 max_resident);
bool launch_start_next_block(struct worker *k, struct block *b);
void launch_record_fault(struct worker *k, u64 linear);
/* Of a traced launch: until the block is done or draws again, or is found to wait for others. */
enum warp_state launch_run_exclusive(struct worker *k, struct block *b);
/* A block is done. False: stop, the launch as a whole is over its budget or its time. */
bool launch_finish_block(struct worker *k, struct block *b);
/* core/block_work.c: what the worker counted since the last call was this block's work; once it is
 * done, it is the launch's. */
void block_work_account(struct worker *k, struct block *b);
void block_work_finish(struct worker *k, struct block *b);
void launch_run(struct launch *l);
void launch_close(struct launch *l);
u64 launch_block_count(const struct launch *l); /* how many run: all of them, or the sample */
/* The i-th of `count` sampled blocks: one of each of `count` equal stretches of the grid, at a
 * place in the stretch that follows no period, lest all of them lie in one column of the grid. */
u64 launch_sample_block(u64 i, u64 count, u64 nblocks, u64 key);
u64 launch_hash(u64 i,
                u64 key); /* the i-th number of those that follow from the key of sim_set_sample */

static inline size_t shadow_epochs_bytes(const struct launch *l) {
    return ((size_t)(l->shared_bytes >> l->shared_shift) + 32) * sizeof(u32);
}
