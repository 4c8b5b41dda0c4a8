/* internal.h — what the files of the time model share. The way through them:
 *
 *   estimate.c        chooses blocks, has the simulator trace them, calls the rest, makes an
 * estimate of what comes out sass_lowering.c           machine instructions and units of a PTX instruction
 * (lowering.def) region.c          the straight-line stretches that the traces go through, ordered
 * as ptxas would schedule.c        the same from machine code, where it is at hand; schedule_replay.c
 * finds what of it a warp executes traffic.c         which sectors each block touches, what
 * neighbours share: how much must come from DRAM random_access.c       how many all blocks touch where
 * they go at random caches.c          L1 and L2 as tag stores replay.c          one SM runs its
 * blocks, in cycles; what it shares with the three below is in sm_model.h replay_memory.c   L1, L2,
 * DRAM replay_atomics.c  atomics replay_async.c   asynchronous copies replay_grid_barrier.c     the
 * barrier of a cooperative launch's blocks sm_model.c  rates, caches, results breakdown.c, attribution.c
 * what people look at: time by resource, by source line; accesses */
#pragma once
#include "grader/sim/core/core.h"
#include "grader/sim/sass/sass.h"
#include "grader/sim/timing/timing.h"

/* ADD: additions of 32 bits, which ptxas gives to ALU and IMAD in turns. */
enum unit {
    UNIT_NONE,
    UNIT_ALU,
    UNIT_IADD,
    UNIT_IMAD,
    UNIT_FMA,
    UNIT_FP64,
    UNIT_XU,
    UNIT_LSU,
    UNIT_CTRL,
    UNIT_TENSOR,
    UNIT_COUNT
};

struct lowering {
    u8 unit, count,
        xu_count; /* machine instructions; how many use the special-function unit as well */
};
struct lowering time_lower_insn(const char *name, u8 pipe);

/* ---- regions ---- */

enum sched_insn_kind {
    SCHED_PLAIN,
    SCHED_MEMORY,
    SCHED_BARRIER,
    SCHED_ASYNC_GROUP,
    SCHED_CLUSTER_ARRIVE, /* at the barrier of the cluster */
    SCHED_SPILL           /* a register that ptxas keeps in local memory */
};
enum { SCHED_MAX_REFS = 12, MMA_FULL_WORK = 64 };

/* One instruction of a region, in the order of issue. */
struct sched_insn {
    u32 op; /* of machine code: that it was made from; the number of ops = none */
    u8 kind, unit, count, xu_count, nsrc, ndst;
    bool ordered;      /* no access to memory moves across it */
    u16 mma_work;      /* of the tensor unit, in parts of MMA_FULL_WORK; 0 = another unit */
    bool is_wgmma;     /* of a warpgroup: who wants its result waits for its group */
    bool is_bulk_copy; /* a bulk copy */
    bool is_cp_async;  /* a load of a cp.async: who wants its data waits for its group */
    u16 latency;       /* of the result, from issue; memory: set by the replay */
    u32 src[SCHED_MAX_REFS], dst[SCHED_MAX_REFS]; /* register numbers */
    u8 stall_cycles, read_barrier; /* of machine code: clocks to the next instruction; 1 + the
                       barrier that reading the operands releases */
};
bool time_is_memory_op(const struct op *o); /* it has a mem_desc, and accesses of it are traced */
/* Clocks from issue to a result of the unit. */
u16 time_fixed_latency(const struct gpu_device *d, u8 unit);

struct region {
    u32 first_segment, nsegments; /* the first, and how many follow on each other */
    u32 first_op, end_op;
    struct sched_insn *insns;
    u32 ninsns, *insn_index; /* by op - first_op */
    struct region *next;
};

enum { REGION_SLOTS = 1024 };
struct region_table {
    const struct sim_module *module;
    const struct gpu_device *device;
    unsigned disabled_terms;
    struct arena arena;
    struct region *table[REGION_SLOTS];
    u32 *register_hash, nregisters, register_slots; /* by hash of a ref */
    ref *register_ref;
    u8 *if_conversion; /* by segment: 2 = ends in a branch that ptxas makes a predicate of, 1 = not,
                       0 = not looked at */
    u32 max_insns;
};

void time_regions_open(struct region_table *r, const struct sim_module *m,
                       const struct gpu_device *d, unsigned disabled_terms,
                       const struct sim_trace *t);
void time_regions_close(struct region_table *r);
/* The region that begins with the segment word at `*at` of the stream; *at moves behind its words.
 */
struct region *time_region_at(struct region_table *r, const struct trace_warp *w, u32 at);

/* ---- machine code: registers are then the six barriers that results of unknown latency release
 * ---- */

struct issued_insn {
    const struct sched_insn *insn;
    u32 event; /* of the chunk, + 1; 0 = none */
};
struct event {
    u32 word_index,
        next; /* where the access stands in the stream; the next one of the same instruction, + 1 */
};
/* What a warp executes of a stretch of machine code, with the accesses that it makes. */
struct chunk {
    struct issued_insn *insns;
    struct event *events;
    u32 ninsns, capacity, nevents, event_capacity;
};
struct schedule;
/* NULL: there is no machine code, or it does not fit what was traced. */
struct schedule *time_schedule_open(const struct sim_module *m, const struct gpu_device *d,
                                    const struct sim_trace *t);
void time_schedule_close(struct schedule *s);
u32 time_schedule_frame_bytes(
    const struct schedule *s); /* bytes of local memory that what was traced reaches */
/* The next stretch of the stream; *at moves behind it. False: there is none; a chunk may be empty.
 */
bool time_schedule_next(struct schedule *s, const struct trace_warp *w, u32 *at, struct chunk *out);

/* ---- traffic ---- */

static inline u64 line_number(u64 word) { return word >> 8; }
static inline u32 line_sectors(u64 word) { return word & 15; }
static inline u32 line_partial_sectors(u64 word) {
    return word >> 4 & 15;
} /* sectors that a store writes in part */

/* The sectors that a block has touched, by line and verb. */
struct sector_set {
    u64 *key; /* line << 1 | verb, + 1; 0 = empty */
    u8 *sectors;
    u32 n, slots;
};
/* Those of `sectors` that the block had not touched before: read, or written before (a read finds
 * them in L2). */
u32 time_sector_set_add(struct sector_set *t, u64 line, bool write, u32 sectors);
/* Those that the block has touched so far. */
u32 time_sector_set_get(const struct sector_set *t, u64 line);
void time_sector_set_clear(struct sector_set *t);
void time_sector_set_free(struct sector_set *t);

struct buffer_traffic {
    u64 start, bytes;
    double sectors_per_block[2]; /* distinct sectors that a block reads, writes */
    double neighbor_overlap[3];  /* part of them that the next block in x, y, z touches too */
    double population[2];        /* sectors that blocks choose from at random; 0 = they do not
                                     (random_access.c) */
    double page_cost_factor[2];  /* of a transfer between it and DRAM, as a factor */
    double dram_probability[2];  /* chance that a sector which a block touches first is read from,
                        written to  DRAM */
};

struct traffic {
    struct buffer_traffic *buffer;
    u32 nbuffers;
    double block_sectors,
        wave_sectors;      /* touched by one block; by all that are resident at one time */
    double dram_bytes;     /* of the launch, modelled */
    double eviction_ratio; /* DRAM traffic of what L2 held before, which reads push out, as a part
                       of what they read */
};

struct grid_geometry {
    u64 nblocks;
    u32 grid[3], resident_blocks; /* blocks on the whole device at one time */
};

void time_traffic_open(struct traffic *t, struct sim *s, struct sim_trace *trace, u64 base,
                       const struct grid_geometry *p, const struct gpu_device *d,
                       const struct time_options *o);
void time_traffic_close(struct traffic *t);
void time_random_access(struct traffic *t, const struct sector_set *sets,
                        const struct sim_trace *trace);
void time_dram_pages(struct traffic *t, const struct sector_set *sets,
                     const struct sim_trace *trace, u64 base, const struct grid_geometry *p);
struct buffer_traffic *time_traffic_buffer(const struct traffic *t, u64 address); /* NULL: none */

/* ---- caches ---- */

struct cache_line {
    u64 tag; /* line number + 1; 0 = empty */
    double ready;
    u8 sectors;
};
struct cache {
    struct cache_line *lines;
    u32 sets, ways;
    u64 rng_state;
};
void time_cache_open(struct cache *c, double bytes);
void time_cache_close(struct cache *c);
void time_cache_invalidate(struct cache *c);
struct cache_line *time_cache_find(struct cache *c, u64 line); /* NULL: not there */
struct cache_line *time_cache_insert(struct cache *c,
                                     u64 line); /* in the place of another, chosen at random */

/* ---- replay ---- */

/* What the SM's time goes to, in cycles that the resource is busy. */
enum resource {
    RESOURCE_ISSUE,
    RESOURCE_ALU,
    RESOURCE_FMA,
    RESOURCE_FP64,
    RESOURCE_XU,
    RESOURCE_LSU,
    RESOURCE_SHARED,
    RESOURCE_L1,
    RESOURCE_L2,
    RESOURCE_DRAM,
    RESOURCE_ATOMIC_ADDRESS,
    RESOURCE_ATOMIC_L2_SLICE,
    RESOURCE_TENSOR,
    RESOURCE_COUNT
};
enum stall {
    STALL_NONE,
    STALL_WAIT,
    STALL_SHORT_SCOREBOARD,
    STALL_LONG_SCOREBOARD_L1,
    STALL_LONG_SCOREBOARD_L2,
    STALL_LONG_SCOREBOARD_DRAM,
    STALL_LONG_SCOREBOARD_ATOMIC,
    STALL_BARRIER,
    STALL_COUNT
};

struct replay_input {
    const struct gpu_device *device;
    struct sim *sim;
    struct region_table *regions;
    struct schedule *schedule; /* NULL: from PTX */
    struct traffic *traffic;
    struct sim_trace *trace;
    const struct grid_geometry *geometry;
    u64 base_block;         /* the block whose neighbours are traced, too */
    const u32 *block_order; /* which traced block is the n-th of the SM */
    u32 nblock_order;
    bool last_block_critical; /* of blocks that run at one time, the last waits longest: core/clock_scheduler.c
                               */
    u32 blocks_on_sm, resident_blocks; /* blocks that the SM runs in all, at one time */
    double active_sms;                 /* among which L2 and DRAM are shared */
    u32 shared_bytes, local_bytes, threads_per_block; /* per block, per thread, per block */
    double spills_per_op; /* accesses to registers that ptxas keeps in local memory, for each
                      operation of PTX */
    unsigned disabled_terms;
    u64 max_insns; /* of work, after which the rest is extrapolated */
};

struct replay_result {
    double cycles;
    double utilization[RESOURCE_COUNT];   /* part of the cycles that each is busy, 0..1 */
    double stall_share[STALL_COUNT];      /* parts of the warps' waiting */
    double (*op_stalls)[SIM_STALL_COUNT]; /* by op of the module: cycles that warps spent there;
                                        owned: free it */
    double l1_hit_rate, l2_hit_rate;      /* rates by sector */
    double grid_barrier_cycles;           /* cycles that barriers of the grid took */
    u32 simulated_blocks;
    bool truncated;
};

void time_replay(const struct replay_input *in, struct replay_result *out);

/* ---- what people look at ---- */

/* breakdown.c: what the device's seconds go to. */
void time_breakdown(const struct replay_result *r, double device, double launch,
                    double components[TIME_MAX_COMPONENTS]);
/* attribution.c: by line of the result, what warps spent there, so that all lines have `seconds`; the
 * accesses of the traced blocks. */
void time_attribute_stalls(const struct sim_module *m, double (*op_stalls)[SIM_STALL_COUNT],
                           double seconds, struct sim_result *out);
void time_collect_accesses(const struct sim_module *m, const struct sim_trace *t,
                           struct sim_result *out);
