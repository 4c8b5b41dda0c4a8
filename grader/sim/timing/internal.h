/* internal.h — declarations that the files of the time model share. In the order of use:
 *
 *   estimate.c             selects blocks, has them traced, calls the rest, computes the estimate
 *   sass_lowering.c        machine instructions and pipe of a PTX instruction (lowering.def)
 *   region.c               straight-line code of the traces, in the order that ptxas would choose
 *   if_conversion.c        branches that become predicates
 *   schedule.c             the same from machine code, if there is any; schedule.h lists its files
 *   traffic.c              sectors that blocks access and share: how much comes from DRAM
 *   random_access.c        sectors that all blocks access, if they access them at random
 *   l2_reuse.c             what random accesses find in L2, and what cache hints change
 *   late_touches.c         loads of sectors that a neighbouring block loads earlier
 *   caches.c               L1 and L2 as tag stores
 *   replay.c               one SM runs its blocks, in cycles; sm_model.h has its state
 *   replay_memory.c        L1, L2, DRAM
 *   replay_local.c         local memory
 *   replay_atomics.c       atomics
 *   replay_async.c         asynchronous copies
 *   replay_grid_barrier.c  the grid barrier of a cooperative launch
 *   sm_model.c             rates, caches, results
 *   breakdown.c            time by resource and stall reason
 *   attribution.c          time and accesses by source line */
#pragma once
#include "grader/sim/core/core.h"
#include "grader/sim/sass/sass.h"
#include "grader/sim/timing/timing.h"

struct lowering {
    u8 pipe, count, xu_count; /* number of machine instructions; of those that use XU as well */
};
/* Returns what ptxas makes of a PTX instruction; `pipe`: the pipe by the opcode's row. */
struct lowering time_lower_insn(const char *name, u8 pipe);

/* ---- regions ---- */

enum sched_insn_kind {
    SCHED_PLAIN,
    SCHED_MEMORY,
    SCHED_BARRIER,
    SCHED_ASYNC_GROUP,
    SCHED_FENCE,          /* of GPU or system scope */
    SCHED_CLUSTER_ARRIVE, /* arrives at the cluster's barrier */
    SCHED_SPILL           /* an access to a spilled register */
};
enum { SCHED_MAX_REFS = 12, MMA_FULL_WORK = 64 };

/* One instruction of a region, in the order of issue. */
struct sched_insn {
    u32 op; /* index in the module; of machine code: the op it was made from, nops = none */
    u8 kind, pipe, count, xu_count, nsrc, ndst;
    bool ordered;    /* no access to memory moves across it */
    bool ends_block; /* no instruction moves across it: ptxas makes a branch or call of it */
    u16 mma_work;    /* of the tensor pipe: MMA_FULL_WORK for a product of 16 x 8 x 16 halves */
    u32 sleep_ns;    /* of nanosleep; 0 = another instruction */
    bool is_wgmma;   /* its result is complete when its group is */
    bool is_bulk_copy;
    bool is_cp_async;       /* the load of a cp.async: its data is complete when its group is */
    bool is_cp_async_store; /* its store, which takes no issue slot */
    u16 latency;     /* cycles from issue to the result; for memory, the replay computes it */
    bool is_release; /* ordered behind a fence of GPU or system scope */
    bool empties_l1; /* such a fence, or an acquire: other SMs' writes are visible behind it */
    u32 src[SCHED_MAX_REFS], dst[SCHED_MAX_REFS]; /* register numbers */
    /* Of machine code: cycles to the next instruction; 1 + the scoreboard barrier that reading the
     * operands releases. */
    u8 stall_cycles, read_barrier;
    u8 bank_conflicts; /* further issue slots */
    bool has_predicate, is_store;
};
bool time_is_memory_op(const struct op *o); /* It has a mem_desc, and its accesses are traced. */
/* Returns the cycles from issue to a result of the pipe. */
u16 time_fixed_latency(const struct gpu_device *d, u8 pipe);

struct region {
    u32 first_segment, nsegments; /* consecutive segments */
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
    u32 *register_hash, nregisters, register_slots; /* by hash of a ref: 1 + register number */
    ref *register_ref;                              /* by register number */
    /* By segment: 1 + time_if_segments(); 0 = not tested yet. */
    u8 *if_conversion;
    u32 max_insns;
};

/* Prepares the table; regions are made at their first use. */
void time_regions_open(struct region_table *r, const struct sim_module *m,
                       const struct gpu_device *d, unsigned disabled_terms,
                       const struct sim_trace *t);
void time_regions_close(struct region_table *r);
/* Returns the region that begins with the segment word at `at` of the warp's trace. */
struct region *time_region_at(struct region_table *r, const struct trace_warp *w, u32 at);

/* Returns true if a warp of the region of `n` segments may execute `next` after `position`, both
 * relative to its first segment: later code, or the other arm of an if, else. */
bool time_region_continues(struct region_table *r, u32 first, u32 n, u32 position, u32 next);
/* Sets the machine instructions of `n` ops, with their addresses folded. */
void time_lower_ops(struct region_table *r, u32 first, u32 n, struct sched_insn *insns);
u32 time_register_number(struct region_table *r, ref x);

/* if_conversion.c: returns the number of segments, 1 to 3, that the branch at the segment's end
 * selects from if ptxas replaces it by predicates, else 0. They are the next ones. */
u32 time_if_segments(struct region_table *r, u32 segment);
/* Removes such branches from the region; their arms depend on the condition, and on the old values
 * that they may keep. */
void time_convert_branches(struct region_table *r, struct region *g);

/* ---- machine code: its registers are the six scoreboard barriers, which results of variable
 * latency release ---- */

struct issued_insn {
    const struct sched_insn *insn;
    u32 event; /* 1 + its first event in the chunk; 0 = none */
};
struct event {
    u32 word_index; /* of the access: in the trace, or OWN_WORDS | in the chunk */
    u32 next;       /* 1 + the next event of the same instruction; 0 = none */
};
/* The machine instructions that a warp executes next, with their accesses. */
enum { OWN_WORDS = 1u << 30 };
struct chunk {
    struct issued_insn *insns;
    struct event *events;
    u32 ninsns, capacity, nevents, event_capacity;
    u64 *words; /* accesses that only a part of the warp's lanes make */
    u32 nwords, word_capacity;
    bool jumps; /* a taken branch follows the last one */
};
struct schedule;
/* Returns NULL if there is no machine code, or if it doesn't match the traces. */
struct schedule *time_schedule_open(struct region_table *r, const struct sim_trace *t);
void time_schedule_close(struct schedule *s);
/* Returns the bytes of local memory that the traced code uses. */
u32 time_schedule_frame_bytes(const struct schedule *s);
/* Fills in the chunk of the next segments of the trace and moves *at past them; it may be empty.
 * Returns false at the end. */
bool time_schedule_next(struct schedule *s, const struct trace_warp *w, u32 *at, struct chunk *out);

/* ---- traffic ---- */

/* Fields of a trace word of a global access: the line, a mask of its sectors, a mask of the sectors
 * that a store writes only in part. */
static inline u64 line_number(u64 word) { return word >> 8; }
static inline u32 line_sectors(u64 word) { return word & 15; }
static inline u32 line_partial_sectors(u64 word) { return word >> 4 & 15; }

/* The sectors that a block has accessed, by line and verb. */
struct sector_set {
    u64 *key; /* line << 1 | verb, + 1; 0 = empty */
    u8 *sectors;
    u32 n, slots;
};
/* Adds sectors; returns those that the block had not accessed before. A read of a sector that it
 * has written does not count: it is in L2. */
u32 time_sector_set_add(struct sector_set *t, u64 line, bool write, u32 sectors);
/* Returns the line's sectors that the block has accessed so far. */
u32 time_sector_set_get(const struct sector_set *t, u64 line);
void time_sector_set_clear(struct sector_set *t);
void time_sector_set_free(struct sector_set *t);

struct buffer_traffic {
    u64 start, bytes;
    /* Arrays of 2: [0] reads, [1] writes. */
    double sectors_per_block[2]; /* distinct sectors that a block accesses */
    double neighbor_overlap[3];  /* share of them that the next block in x, y, z accesses too */
    double population[2];        /* sectors of which blocks access random ones; 0 = not random
                                    (random_access.c) */
    double launch_sectors[2];    /* sectors that the launch moves between L2 and DRAM, if it is cold
                                    and a wave's footprint fits */
    double evict_first_share[2]; /* share of its accesses with an evict-first hint */
    double page_cost_factor[2];  /* cost of a DRAM transfer relative to a sequential one */
    double dram_probability[2];  /* that a sector's first access by a block goes to DRAM */
    double early_factor;         /* of it, for a load that no neighbour precedes (late_touches.c) */
};

struct traffic {
    struct buffer_traffic *buffer;
    u32 nbuffers;
    double block_sectors, wave_sectors; /* accessed by one block; by all resident blocks */
    double dram_bytes;                  /* of the launch, modelled */
    double *late_share;    /* by op: of its first touches, those that a neighbour made earlier */
    bool writes_much;      /* at least a twentieth of the sectors that the launch moves */
    double eviction_ratio; /* written-back sectors of earlier data per sector that is read */
};

struct grid_geometry {
    u64 nblocks;
    u32 grid[3], resident_blocks; /* blocks on the whole device at one time */
};

void time_traffic_open(struct traffic *t, struct sim *s, struct sim_trace *trace, u64 base,
                       const struct grid_geometry *p, const struct gpu_device *d,
                       const struct time_options *o, const struct sim_module *m);
void time_traffic_close(struct traffic *t);
void time_random_access(struct traffic *t, const struct sector_set *sets,
                        const struct sim_trace *trace);
/* Sets evict_first_share. */
void time_l2_hints(struct traffic *t, const struct sim_module *m, const struct sim_trace *trace);
/* Adds to launch_sectors the random reads of what L2 has evicted since. */
void time_l2_reuse(struct traffic *t, const struct gpu_device *d, double blocks);
/* Sets late_share, and the buffers' early_factor. */
void time_late_touches(struct traffic *t, const struct sim_trace *trace, u64 base_block,
                       const struct grid_geometry *p, u32 nops);
/* Sets each buffer's page_cost_factor by the share of sectors that are alone on their DRAM pages.
 */
void time_dram_pages(struct traffic *t, const struct sector_set *sets,
                     const struct sim_trace *trace, u64 base, const struct grid_geometry *p);
/* Returns the buffer of an address; NULL if there is none. */
struct buffer_traffic *time_traffic_buffer(const struct traffic *t, u64 address);

/* ---- caches ---- */

struct cache_line {
    u64 tag;            /* line number + 1; 0 = empty */
    double ready;       /* when its last sector arrives */
    u64 last_use;       /* the cache's tick */
    u8 sectors, reason; /* reason: enum sim_stall_reason of a reader before that */
};
struct cache {
    struct cache_line *lines;
    u32 sets, ways;
    bool is_empty;
    bool is_lru; /* replaces the least recently used line of a set, else a random one */
    u64 rng_state, tick;
};
/* Makes an empty cache of this size; frees it; empties it. */
void time_cache_open(struct cache *c, double bytes, bool is_lru);
void time_cache_close(struct cache *c);
void time_cache_invalidate(struct cache *c);
struct cache_line *time_cache_find(struct cache *c, u64 line); /* NULL on a miss */
/* Inserts an empty line; if its set is full, it replaces another one. */
struct cache_line *time_cache_insert(struct cache *c, u64 line);

/* ---- replay ---- */

/* X(id, name): resources of the SM, each busy for a number of cycles. Pipes are some of them, by
 * the names that Nsight Compute gives them. */
/* clang-format off */
#define RESOURCES(X)                                                                              \
    X(RESOURCE_ISSUE, "issue slots") X(RESOURCE_ALU, "ALU pipe") X(RESOURCE_FMA, "FMA pipe")       \
    X(RESOURCE_FP64, "FP64 pipe") X(RESOURCE_XU, "XU pipe") X(RESOURCE_LSU, "LSU pipe")            \
    X(RESOURCE_SHARED, "shared memory wavefronts") X(RESOURCE_L1, "L1 wavefronts")                 \
    X(RESOURCE_L2, "L2 bandwidth") X(RESOURCE_DRAM, "DRAM bandwidth")                              \
    X(RESOURCE_ATOMIC_ADDRESS, "atomics on one address")                                           \
    X(RESOURCE_ATOMIC_L2_SLICE, "atomics in one L2 slice") X(RESOURCE_TENSOR, "tensor pipe")
/* clang-format on */
enum resource {
#define X(id, name) id,
    RESOURCES(X)
#undef X
        RESOURCE_COUNT
};
/* The component of a resource is this + the resource. */
enum { TIME_FIRST_RESOURCE = TIME_COMPONENT_IDLE + 1 };

struct replay_input {
    const struct gpu_device *device;
    struct sim *sim;
    struct region_table *regions;
    struct schedule *schedule; /* NULL: instructions come from PTX */
    struct traffic *traffic;
    struct sim_trace *trace;
    const struct grid_geometry *geometry;
    u64 base_block;         /* the block whose neighbours are traced too */
    const u32 *block_order; /* traced blocks in the order in which the SM runs them */
    u32 nblock_order;
    bool last_block_critical; /* the last resident block waits longest: core/clock_scheduler.c */
    u32 blocks_on_sm, resident_blocks; /* blocks that the SM runs in all; at one time */
    double active_sms;                 /* SMs that share L2 and DRAM */
    u32 shared_bytes, local_bytes;     /* of a block; of a thread */
    u32 threads_per_block;
    double spills_per_op; /* accesses to spilled registers for each operation of PTX */
    unsigned disabled_terms;
    u64 max_insns; /* warp instructions to simulate; the rest is extrapolated */
};

struct replay_result {
    double cycles;
    double utilization[RESOURCE_COUNT]; /* of each one's peak, 0..1 */
    double shared_utilization;          /* highest of what SMs share, of the rate that it reaches */
    double stall_share[SIM_STALL_COUNT]; /* share of all stall cycles */
    /* By op of the module and stall reason: cycles of all warps. The caller frees it. */
    double (*op_stalls)[SIM_STALL_COUNT];
    double l1_hit_rate, l2_hit_rate; /* by sector, 0..1 */
    double grid_barrier_cycles;      /* spent at grid barriers */
    u32 simulated_blocks;
    bool truncated;
};

/* Replays the traces of sampled blocks on one SM, cycle by cycle. */
void time_replay(const struct replay_input *in, struct replay_result *out);

/* ---- for reports ---- */

/* breakdown.c: divides the device's seconds among the components. */
void time_breakdown(const struct replay_result *r, double device, double launch,
                    double components[TIME_MAX_COMPONENTS]);
/* attribution.c: adds stall seconds by reason, `seconds` in all, to the estimate; to the result's
 * lines; then the costliest
 * accesses of the traced blocks. */
void time_sum_stalls(const struct sim_module *m, double (*op_stalls)[SIM_STALL_COUNT],
                     double seconds, struct time_estimate *t);
void time_attribute_stalls(const struct sim_module *m, double (*op_stalls)[SIM_STALL_COUNT],
                           double seconds, struct sim_result *out);
void time_collect_accesses(const struct sim_module *m, const struct sim_trace *t,
                           struct sim_result *out);
