/* core.h — the execution of decoded code: grids, blocks, warps and warp splits. All of sim/core
 * includes it, and the modules that run within it: sim/insn, sim/count, sim/race.
 *
 * Theory of operation. A worker thread takes blocks from the launch, one after another, and runs
 * each warp of the block until it waits or exits. A warp consists of *warp splits*: groups of lanes
 * that share a program counter and a call stack. A divergent branch makes two splits of one; splits
 * at the same place merge. The split deepest in calls and earliest in the code runs first, so that
 * diverged lanes reconverge at the first place that they share. A split that runs long while others
 * wait yields, so that every lane makes progress (independent thread scheduling).
 *
 * Code is a sequence of segments: straight-line lane instructions and one control instruction at
 * the end. A segment always runs as a whole, so counting one execution of it counts all of its
 * instructions. */
#pragma once
#include "grader/sim/code/code.h"
#include "grader/sim/core/trace.h"

#include <pthread.h>
#include <stdatomic.h>

struct sim {
    struct sim_options options;
    struct memory memory;
    uint32_t accessible_devices; /* by kernels of the selected device, memory.device */
    struct sim_module *modules;
    struct buf printf_output, assert_output;
    pthread_mutex_t output_lock;
    uint64_t heap_used;
    struct race_shadow *race_shadows; /* by worker, kept from launch to launch */
    unsigned nrace_shadows;
    struct race_streams *streams;             /* race/streams.c; NULL = all commands are in order */
    struct undef_origin_table *undef_origins; /* undef_report.c; NULL = none yet */
    uint64_t launch_count;
    uint64_t clock_cycles;                 /* %clock64 when the current launch began */
    _Atomic u64 blocks_done, blocks_total; /* of the current launch, for sim_get_progress */
    /* Launches by kernels (device_launch.c): not launched yet; to run; to run last. */
    struct device_launch *prepared_launches, *pending_launches, *tail_launches;
    /* launch_depth: of the running launch; 0 = launched by the host. */
    uint32_t npending_launches, launch_depth, device_error;
    struct sim_texture *textures; /* by handle; channels == 0: free (sim/texture.c) */
    uint32_t ntextures;
    /* What launches have spent of a shared budget since sim_begin_shared_budget: warp instructions,
     * and units of core_add_simulation_cost. */
    bool is_budget_shared;
    uint64_t spent_insns, simulation_cost;
    /* Device addresses, 0 = none yet: the workspace of cooperative groups' grid barrier; the names
     * and texts of errors, for device code. */
    uint64_t grid_workspace;
    uint64_t error_strings;
};

/* ---- running ---- */

struct warp_split {
    u32 pc;      /* op index */
    u32 mask;    /* its lanes; never 0 */
    u32 context; /* call stack: index into the worker's contexts */
    u8 state;
    u8 barrier_id;
    u8 reconverged; /* still at the barrier or warp sync that released it: may merge under any
                       schedule */
    u64 vruntime;   /* warp instructions charged so far, for fairness */
};
enum { SPLIT_READY, SPLIT_AT_BARRIER, SPLIT_AT_WARP_SYNC, SPLIT_AT_CLUSTER_BARRIER };

struct call_context { /* one call stack: an interned path of call sites */
    u32 parent, call_op, code, depth;
    u32 first_child, next_sibling; /* contexts called from here; 0 = none */
    u32 frame, local;              /* byte offsets of this function's frame and local variables */
};

/* How often each lane has bypassed a barrier by a branch since the block's last barrier, and the
 * last such branch. */
struct barrier_skips {
    u8 count[32];
    u32 branch_op;
};

/* Threads that exited after they had bypassed a barrier: their number, and the one that bypassed it
 * most often. */
struct exit_after_skip {
    u32 thread_count, thread;
    u32 skip_count, branch_op, exit_op; /* of that thread */
};

/* What a warp has released and acquired, by the worker's logical clock: race/happens_before.c. */
struct warp_order {
    u32 fence_clock;   /* the last fence: accesses before it are released by a later strong store */
    u32 acquire_clock; /* other blocks' accesses before it are ordered */
    u32 pending_clock; /* …and will be ordered before it, once a fence follows what was observed */
    /* Accesses before it are ordered on hardware, which needs no fence for that. */
    u32 observed_clock;
    u32 observed_op; /* what observed last: a strong load or an atomic */
    /* Within the block: the sync epoch and the clock of the last fence of any scope. */
    u32 block_fence_epoch, block_fence_clock;
    u32 lanes_epoch; /* before this sync epoch, something else than a warp sync ordered its lanes */
};

struct warp {
    u32 index, live_lanes, nsplits;
    struct warp_split splits[32];
    unsigned char *frames, *special_regs, *local;
    unsigned char *local_written; /* a byte for each byte of `local`: is it initialized? */
    unsigned char *undef;         /* undefined bits, laid out as the frames: undef.h */
    u8 *undef_origin;             /* their origins, one for each 4 bytes of a frame */
    /* slots with undefined bits; end of the bytes of `undef` ever set */
    u32 nundef, undef_end;
    u64 warp_insns;            /* for the budget */
    u32 bar_arrived_lanes[16]; /* by barrier: lanes that arrived by bar.arrive, until all have */
    u32 sync_epoch;            /* advances at each barrier or warp sync, for races */
    u32 warp_sync_epoch;       /* its value at the last sync of the whole warp */
    struct barrier_skips *barrier_skips; /* by bar_desc.barrier_number */
    bool skipped_barrier;                /* some of them are not zero */
    u32 cluster_arrived_lanes, cluster_released_lanes, fenced_lanes; /* core/cluster.c */
    bool fetched_ticket;  /* since its timeslice began, in a traced launch */
    bool at_sync_point;   /* its timeslice ended where blocks synchronize: core/clock_scheduler.c */
    u64 timeslice_start;  /* its warp_insns when the timeslice began */
    u32 fence_count;      /* fences of GPU scope since then, where a clock scheduler reads them */
    bool at_grid_barrier; /* a lane waits at the grid barrier: core/grid_barrier.c */
    struct warp_order order;
    /* Lanes for which a warp sync of the warp waits; those of them that went on to other work
     * since, so that they don't count as exited: core/warp_sync.c. */
    u32 awaited_lanes, diverted_lanes;
};

struct cluster; /* core/cluster.h */

struct barrier {
    bool used;
    u32 arrived_warps;    /* warps all of whose lanes arrived by bar.arrive */
    u32 expected_threads; /* 0 = all threads of the block that have not exited */
    u32 reduction[2];     /* threads whose predicate is true; all threads */
    u32 first_waiter_op, first_waiter_thread; /* valid if has_waiters */
    bool has_waiters;                         /* by bar.sync */
};

struct launch;
struct race_shadow; /* race/race.h */
struct race_callbacks;

struct block {
    u32 index[3];
    u64 linear, warp_insns; /* index in the grid; warp instructions executed, for the budget */
    /* position in the order of execution: the lowest one's report is kept */
    u64 launch_order;
    struct cluster *cluster;
    u32 cluster_rank;
    u64 *remote_write_epochs, *remote_read_epochs; /* shadow, in clusters: race/cluster.c */
    u32 nwarps;
    struct warp *warps;
    unsigned char *shared, *values;  /* values: BASE_BLOCK */
    unsigned char *shared_written;   /* a byte for each byte of `shared`: is it initialized? */
    u32 *write_epochs, *read_epochs; /* shadow of shared memory: race/exec_shared.c */
    u32 sync_epoch;                  /* advances at each barrier of the block, from 1 */
    u32 block_sync_epoch;            /* its value at the last barrier of all threads */
    /* the sync epoch in which the shadow was last needed; reads before it may be deferred */
    u32 recorded_epoch;
    u32 logical_clock, acquire_clock; /* for races in global memory: race/exec_global.c */
    u32 grid_clock; /* before it, all threads' accesses are ordered: a barrier of the grid or
                       cluster */
    struct warp_order order; /* joined from all warps at each barrier; its acquire_clock is above */
    struct observed_blocks *observed_blocks;     /* race/happens_before.c; NULL = none */
    struct lane_order *lane_orders;              /* by warp: race/lane_order.c; NULL = none */
    struct release_gaps *release_gaps;           /* race/lane_order.c; NULL = none */
    struct race_shadow *race_shadow;             /* of its worker */
    const struct race_callbacks *race_callbacks; /* NULL: the block is not checked */
    struct barrier barriers[BARRIERS_PER_BLOCK];
    /* Each of these is NULL until the block needs it. */
    struct async_copies *async_copies;   /* copies in flight: race/async.h */
    struct wgmma_queue *wgmma_pending;   /* products in flight: race/wgmma_pending.h */
    struct race_warpgroups *warpgroups;  /* fences that products require: race/warpgroup.h */
    struct race_proxy *proxy;            /* writes that another proxy may read: race/proxy.h */
    struct inflight *inflight_copies;    /* copies in flight, for counters: count/inflight.h */
    struct vector_clocks *vector_clocks; /* order among some of the threads: race/vector_clock.h */
    struct exit_after_skip *exits_after_skip; /* by barrier_number, since the last barrier */
    bool skipped_barrier;                     /* a warp has, or a thread that exited had */
    u32 exited_threads, first_exited_thread, first_exit_op;
    bool exit_reported;
    size_t mapping_bytes; /* of the mapping that begins at warps */
    bool done;
    struct trace_block *trace;  /* NULL: not sampled */
    struct sim_block_work work; /* core/block_work.c */
    /* core/grid_barrier.c: arrivals at the grid barrier; the last generation that the block saw
     * complete; the barrier's word, and the block's work so far, at the last arrival. */
    u32 grid_arrivals, grid_observed_generation;
    u32 grid_word_at_arrival;
    /* core/clock_scheduler.c: the block's simulated clock, and its work item. */
    double sched_clock;
    u64 work_item;
    struct sim_block_work work_at_arrival;
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

/* The access pattern of a memory instruction's last execution. The relative addresses decide the
 * counts, so an execution with the same pattern reuses them. Aligned to a cache line of the CPU;
 * the next line holds what every execution reads. */
struct access_pattern {
    /* bytes from the first active lane's address; 0 if inactive */
    _Alignas(64) s32 lane_offset[32];
    u64 base;      /* the first active lane's address, last time */
    u32 last_mask; /* active lanes, last time; 0 = too far apart for a pattern */
    /* Serial number of the pattern; that of the access whose addresses are proven to be the same
     * (code/address_reuse.c). */
    u32 pattern_serial, reused_serial;
    u32 mask;
    s32 min_offset, max_offset; /* range of lane_offset */
    u32 offset_bits;            /* bitwise or of lane_offset: alignment */
    u32 lane_count, ideal_sectors, wavefronts, min_wavefronts, max_multiplicity;
    int allocation; /* index of the last one hit, or -1 */
    /* Bit p: sectors_by_alignment[p] holds the sectors for a first address of p modulo 32. */
    u32 valid_alignments;
    u8 sectors_by_alignment[32];
    u8 valid, shape;         /* shape: PATTERN_… */
    u8 wavefront_lane_bytes; /* bytes a lane for counting wavefronts; 0 = as many as it accesses */
    u8 is_store;             /* only loads of the same word share a wavefront */
    u8 nruns;                /* 0 = not computed yet; see pattern_runs */
    u32 first_lane_mask;     /* the first lane at each distinct address */
    u32 duplicate_mask;      /* lanes that share their address */
    /* 1 + index in the worker's pattern list; 0 = none: race/exec_shared.c */
    u32 pattern_slot;
    u64 step; /* from the access before the last one to the last one */
    /* What the worker knows of the native chunk whose first load this is, or NULL. */
    struct repeated_loads *repeated_loads;
    struct {
        s32 offset;
        u32 bytes;
    } runs[32]; /* the accessed bytes, relative to `base`, as runs without a gap */
};
/* UNIT_STRIDE: lane l is at l × its bytes, and all lanes are active. */
enum { PATTERN_ANY, PATTERN_UNIFORM, PATTERN_UNIT_STRIDE };

/* The state that lane functions work on. */
struct exec {
    unsigned char *base[BASE_COUNT];
    u32 active_mask; /* lanes of the running split */
    u32 local_base;  /* of the running function, bytes per lane */
    struct warp *warp;
    struct block *block;
    struct cluster *cluster; /* of the block; NULL where the launch has none */
    struct worker *worker;
    u32 fast_mask; /* active_mask for the fast loop; 0 once a load has read undefined bytes */
    const struct op *undef_load; /* that load */
    bool faulted;                /* stop at the end of the segment */
    bool sanitize, tracks_global_races, tracks_happens_before;
    /* Shortcuts into launch, worker and block. */
    const struct mem_desc *mems;
    u64 (*stats)[STAT_COUNT];
    struct access_pattern *pattern_cache;
    struct memory *memory;
    unsigned char *shared, *shared_written;
    u32 shared_bytes, local_bytes;
    struct trace_block *trace;        /* of the running block, or NULL */
    const struct native_code *native; /* by segment; NULL = the interpreter runs the block */
};

/* Returns the operand's slot in the running function's frame, or in another base. */
static inline void *operand_at(const struct exec *x, ref r) {
    return x->base[ref_base(r)] + ref_offset(r);
}

/* Access kinds of race detection. */
enum race_access_kind {
    RACE_READ,
    RACE_WRITE,
    RACE_RED,              /* an atomic whose result is not used, a strong store */
    RACE_STRONG_LOAD,      /* a strong load */
    RACE_ATOM,             /* an atomic whose result is used */
    RACE_READ_REVALIDATED, /* a plain load whose value an atomic checks later: code/cas_retry.c */
};

/* Events that race detection (race/) receives while blocks run. */
struct race_callbacks {
    /* A barrier of all threads is complete, or a block starts. */
    void (*on_block_sync)(struct block *b, const struct launch *l);
    /* Lanes of a warp synchronized. `fence`: that also orders their memory accesses (__syncwarp).
     */
    void (*on_warp_sync)(struct block *b, struct warp *w, u32 lanes, bool fence,
                         const struct launch *l);
    /* A warp arrived at a barrier by bar.arrive. */
    void (*on_barrier_arrive)(struct block *b, const struct warp *w, u32 barrier,
                              const struct launch *l);
    /* A barrier that not all threads wait for is complete and releases `warps`. */
    void (*on_barrier_release)(struct block *b, u32 barrier, u32 warps, const struct launch *l);
    void (*on_pending_copy_access)(struct exec *x, struct block *b, const struct op *o, u32 lane,
                                   u64 offset, u32 bytes, const char *verb); /* async.h */
    void (*on_block_start)(struct block *b, const struct launch *l);
    /* all threads have exited; false: a fault was reported */
    bool (*on_block_exit)(struct exec *x);
    void (*on_block_free)(struct block *b);
    /* of its worker: earlier accesses are in the past then */
    u32 (*advance_clock)(struct block *b);
};

struct worker {
    struct exec exec;
    struct race_shadow *race_shadow;
    u32 launch_clock; /* the shadow's logical clock when the launch began */
    struct launch *launch;
    u32 index;
    struct call_context *contexts;
    u32 ncontexts, contexts_capacity;
    /* Head of the free list, linked by next_sibling; number of contexts that triggers a sweep, 0 =
     * the default. */
    u32 first_free_context, context_sweep_limit;
    u64 *segment_runs, *segment_lanes;
    u64 *branch_runs, *branch_diverged; /* by segment */
    u32 time_checks;
    double start_seconds, busy_seconds; /* on the clock of its thread; all it took, at the end */
    bool fetched_ticket; /* the timeslice ended before a warp's next ticket: core/launch.c */
    u64 (*stats)[STAT_COUNT];
    struct access_pattern *pattern_cache;
    struct repeated_loads *repeated_loads; /* those that native code counts: a list */
    u64 warp_insns;                        /* of all its blocks but the running one */
    u64 last_clock;                        /* the highest value of %clock64 that it has read */
    struct sim_block_work accounted_work; /* the part already added to a block: core/block_work.c */
    u64 timeslice;
    struct undef_report *undef_reports; /* this worker's, by origin: core/undef_report.c */
    const struct op *last_undef_op;     /* the last op, and its origin */
    u8 last_undef_origin;
    /* by its blocks: race/tensor_map_proxy.h; NULL = none */
    struct tensor_map_updates *tensor_maps;
    struct sim_report reports[SIM_FAULT_COUNT];
    u64 report_order[SIM_FAULT_COUNT]; /* launch_order of the kept report: the lowest wins */
    enum sim_fault fault;
    u64 fault_block;
    struct block *blocks; /* resident; one is enough unless blocks wait for each other */
    u32 nblocks, blocks_capacity;
    struct cluster **clusters; /* resident, in a launch of clusters */
    u32 nclusters, clusters_capacity;
    pthread_t thread;
};

/* The grid barrier of a cooperative launch: core/grid_barrier.c. */
struct grid_barrier {
    u64 word_address;   /* 0 = the launch has none */
    u64 arrived_blocks; /* in the current generation */
    u32 generation;     /* how often it has completed */
    u32 release_clock;  /* the worker's logical clock at the last completion: earlier accesses are
                           ordered */
    bool abandoned;
    /* The maximum work of one block: summed over completed generations; in this one. */
    struct sim_block_work summed_max_work, max_block_work;
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
    /* Called when a block or its timeslice has ended, with what the launch is likely to execute in
     * all; NULL. */
    void (*on_work)(const struct launch *l, u64 warp_insns);
    u64 launch_id; /* number among the sim's launches */
    u64 nblocks;
    u32 cluster_dims[3], cluster_blocks; /* 1 where there are no clusters */
    bool has_clusters;                   /* blocks run cluster by cluster */
    bool tracks_cluster_races;           /* record accesses to distributed shared memory */
    u64 *cluster_ids, ncluster_ids;      /* the clusters to run */
    /* The blocks to run, ascending; NULL = all, or the sample of sim_set_sample. */
    const u64 *selected_blocks;
    u32 nselected_blocks;
    struct sim_trace *trace; /* of its sampled blocks; NULL = none */
    struct grid_barrier grid_barrier;
    struct clock_scheduler *clock_sched; /* NULL: round robin */
    bool clock_ordered;                  /* the launch had a clock scheduler */
    u32 nthreads, nwarps, shared_bytes;
    u32 warp_frame_bytes, thread_local_bytes;
    atomic_ulong next_block;
    atomic_ulong fault_block;         /* the lowest block that faulted; later blocks need not run */
    atomic_ulong finished_warp_insns; /* of finished blocks */
    atomic_ulong simulation_cost;     /* with a shared budget, includes earlier launches' cost */
    pthread_mutex_t work_lock; /* protects the next two, of finished blocks: core/block_work.c */
    struct sim_block_work total_work, max_block_work;
    atomic_int abort_fault; /* enum sim_fault: the launch as a whole used up its budget or time */
    u64 insn_budget;
    double time_budget; /* processor seconds of a worker; 0 = no limit */
    bool sanitize, adversarial_schedule;
    bool watches_sample; /* sanitize, but only of the watched blocks: core/watched_blocks.c */
    u64 *watched_blocks; /* ascending; NULL = all */
    u32 nwatched_blocks;
    atomic_bool has_unproven_store; /* race/writable_allocations.c */
    u8 timeslice_log2;              /* log2 of instructions: core/warp_split.c */
    atomic_bool has_shared_race;    /* reported; it explains uninitialized reads of shared memory */
    bool blocks_depend;             /* a traced block could not finish alone */
    bool tracks_global_races;       /* record accesses to global memory */
    bool tracks_happens_before;     /* …in order, on one worker: race/happens_before.c */
    bool reverse_block_order;       /* sim_options.reverse_block_order */
    bool random_order; /* …and blocks poll each other: choose the next one at random */
    bool ptx_order;    /* not sim_options.hardware_order */
    const struct race_callbacks *race_callbacks; /* NULL unless sanitize */
    /* log2 of a shadow cell's bytes: 2, or 0 in kernels with accesses of less than a word. */
    u32 global_shift, shared_shift;
    unsigned nworkers;
    struct worker *workers;
};

/* core/warp.c: runs a warp until it waits, ends, faults or uses up `quantum` instructions. */
enum warp_state { WARP_DONE, WARP_WAITING, WARP_YIELDED, WARP_FAULTED };
enum warp_state warp_run(struct exec *x, struct warp *w, u64 quantum);

/* Charges work that costs much more to simulate than one instruction (matrix products, bulk copies,
 * the start of a block), in units of a plain instruction, about 20 ns. These units have their own
 * budget, as large as the instructions' one; the launch ends when it is exceeded. */
static inline void core_add_simulation_cost(struct launch *l, u64 units) {
    u64 budget = l->sim->options.instruction_budget;
    u64 total = atomic_fetch_add_explicit(&l->simulation_cost, units, memory_order_relaxed) + units;
    if (budget && total > budget) atomic_store(&l->abort_fault, SIM_FAULT_INSN_BUDGET);
}

/* core/warp_split.c */
/* Returns log2 of the number of instructions after which a split yields. */
u8 split_timeslice_log2(const struct sim_func *c);
void split_init(struct warp *w, u32 lanes, u32 pc);
/* Merges splits at the same place, then returns the split to run next; NULL if all wait. */
struct warp_split *split_select(struct worker *k, struct warp *w);
/* Lanes leave f for pc. */
void split_diverge(struct warp *w, struct warp_split *f, u32 lanes, u32 pc);
void split_exit(struct warp *w, struct warp_split *f, u32 lanes); /* lanes exit; f may vanish */

/* core/barrier.c, core/warp_sync.c, core/call.c: the control instructions. */
void barrier_arrive(struct exec *x, struct warp_split *f, const struct op *o);
void cluster_wait(struct exec *x, struct warp_split *f, const struct op *o);
/* Releases complete barriers; called after lanes arrived or exited. */
void barrier_try_release(struct exec *x);
/* Records a branch that may bypass barriers (OPF_BARRIER_BYPASS), which `taken` of the lanes take.
 */
void barrier_record_skips(struct exec *x, const struct op *o, u32 lanes, u32 taken);
/* Records lanes that exit at an op. */
void barrier_record_exit(struct exec *x, const struct op *o, u32 lanes);
void barrier_clear_skips(struct block *b, u32 nbarriers);
/* core/deadlock.c: reports which threads wait, and where, when no warp of the block can proceed. */
void barrier_report_deadlock(struct exec *x);
/* A split arrives at a warp sync: it proceeds if all lanes of its member mask are there, else it
 * waits. */
void warp_sync_arrive(struct exec *x, struct warp_split *f, const struct op *o);
/* Completes warp syncs whose lanes wait at different places, when no split of the warp can run.
 * Returns true if it completed one. */
bool warp_sync_resolve(struct exec *x, struct warp *w);
/* Returns the member mask with which a split waits at a warp sync. */
u32 warp_sync_members(const struct exec *x, const struct warp *w, const struct warp_split *f);
void call_enter(struct exec *x, struct warp_split *f, const struct op *o);
void call_return(struct exec *x, struct warp_split *f);
/* core/builtin.c: printf, malloc, free, assert of device code. `frame` is the caller's. */
void call_builtin(struct exec *x, const struct call_desc *d, u32 mask, const struct op *o,
                  unsigned char *frame);

/* core/watched_blocks.c */
void launch_choose_watched_blocks(struct launch *l);
bool launch_is_watched(const struct launch *l, u64 linear);

/* core/block.c */
bool block_allocate(struct launch *l, struct block *b); /* false: out of memory */
void block_free(const struct launch *l, struct block *b);
void block_start(struct worker *k, struct block *b, u64 linear);
/* Runs each warp until it waits or has used `quantum`; WARP_YIELDED: call again. */
enum warp_state block_run(struct worker *k, struct block *b, u64 quantum);

/* core/report.c: reports a fault or finding at an op. The text continues "thread (x,y,z) ". */
void core_fault(struct exec *x, enum sim_fault fault, const struct op *o, unsigned lane,
                u64 address, const char *format, ...) __attribute__((format(printf, 6, 7)));

/* The same in two steps: format the report, record it. */
void core_format_report(const struct exec *x, struct sim_report *r, enum sim_fault fault,
                        const struct op *o, unsigned lane, u64 address, const char *format, ...)
    __attribute__((format(printf, 7, 8)));
void core_report(struct exec *x, const struct sim_report *r);

/* Merges the reports of all workers into the result; the lowest block's report of a kind wins. */
void core_collect_reports(struct launch *l, struct sim_result *out);

/* core/launch.c: a grid of blocks on workers, in these steps. */
void launch_prepare(struct launch *l, struct sim *s, const struct sim_launch *r);
bool launch_open(struct launch *l); /* makes the workers; false: out of memory */
enum { LAUNCH_TIMESLICE = 20000 /* instructions of a warp */ };
/* Adds a resident block's storage, up to `max_resident`; returns false if there is no more. */
bool launch_add_resident(struct worker *k, u32 max_resident);
/* Starts the next block of the grid in `b`; returns false if there is none. */
bool launch_start_next_block(struct worker *k, struct block *b);
void launch_record_fault(struct worker *k, u64 linear);
/* Runs a block of a traced launch until it ends, fetches its next ticket, or waits for others. */
enum warp_state launch_run_exclusive(struct worker *k, struct block *b);
/* Returns true if the worker's thread has computed longer than the launch's budget. */
bool launch_is_out_of_time(const struct worker *k);
/* Ends a block. Returns false if the launch exceeds its budget or its time: stop then. */
bool launch_finish_block(struct worker *k, struct block *b);
/* core/block_work.c: adds what the worker counted since the last call to the block's work; adds a
 * finished block's work to the launch's. */
void block_work_account(struct worker *k, struct block *b);
void block_work_finish(struct worker *k, struct block *b);
void launch_run(struct launch *l);
void launch_close(struct launch *l);
u64 launch_block_count(const struct launch *l); /* blocks that run: all of them, or the sample */
/* Returns the i-th of `count` sampled blocks: one from each of `count` equal intervals of the grid,
 * at a pseudorandom position, so that the blocks don't all lie in one column of the grid. */
u64 launch_sample_block(u64 i, u64 count, u64 nblocks, u64 key);
/* Returns the i-th pseudorandom number for the key of sim_set_sample. */
u64 launch_hash(u64 i, u64 key);

static inline size_t shadow_epochs_bytes(const struct launch *l) {
    return ((size_t)(l->shared_bytes >> l->shared_shift) + 32) * sizeof(u32);
}
