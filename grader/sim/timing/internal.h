/* internal.h — what the files of the time model share. The way through them:
 *
 *   estimate.c        chooses blocks, has the simulator trace them, calls the rest, makes an
 * estimate of what comes out lower.c           machine instructions and units of a PTX instruction
 * (lowering.def) region.c          the straight-line stretches that the traces go through, ordered
 * as ptxas would schedule.c        the same from machine code, where it is at hand; schedule_play.c
 * finds what of it a warp executes traffic.c         which sectors each block touches, what
 * neighbours share: how much must come from DRAM scattered.c       how many all blocks touch where
 * they go at random caches.c          L1 and L2 as tag stores replay.c          one SM runs its
 * blocks, in cycles; what it shares with the three below is in machine.h replay_memory.c   L1, L2,
 * DRAM replay_atomics.c  atomics replay_copies.c   asynchronous copies replay_grid.c     the
 * barrier of a cooperative launch's blocks replay_machine.c  rates, caches, results parts.c, look.c
 * what people look at: time by resource, by source line; accesses */
#pragma once
#include "grader/sim/core/core.h"
#include "grader/sim/sass/sass.h"
#include "grader/sim/timing/timing.h"

/* ADD: additions of 32 bits, which ptxas gives to ALU and IMAD in turns. */
enum unit {
    UNIT_NONE,
    UNIT_ALU,
    UNIT_ADD,
    UNIT_IMAD,
    UNIT_FMA,
    UNIT_FP64,
    UNIT_XU,
    UNIT_LSU,
    UNIT_CTRL,
    UNIT_TENSOR,
    UNIT_COUNT
};

struct lowered {
    u8 unit, count,
        special; /* machine instructions; how many use the special-function unit as well */
};
struct lowered time_lower(const char *name, u8 pipe);

/* ---- regions ---- */

enum step_kind {
    STEP_PLAIN,
    STEP_MEMORY,
    STEP_BARRIER,
    STEP_GROUP,
    STEP_ARRIVE, /* at the barrier of the cluster */
    STEP_SPILL   /* a register that ptxas keeps in local memory */
};
enum { STEP_REFS = 12, WHOLE_PRODUCT = 64 };

/* One instruction of a region, in the order of issue. */
struct step {
    u32 op; /* of machine code: that it was made from; the number of ops = none */
    u8 kind, unit, count, special, nsrc, ndst;
    bool ordered; /* no access to memory moves across it */
    u16 work;     /* of the tensor unit, in parts of WHOLE_PRODUCT; 0 = another unit */
    bool product; /* of a warpgroup: who wants its result waits for its group */
    bool bulk;    /* a bulk copy */
    bool copies;  /* a load of a cp.async: who wants its data waits for its group */
    u16 latency;  /* of the result, from issue; memory: set by the replay */
    u32 src[STEP_REFS], dst[STEP_REFS]; /* register numbers */
    u8 stall, read; /* of machine code: clocks to the next instruction; 1 + the barrier that reading
                       the operands releases */
};
bool time_is_memory(const struct op *o); /* it has a mem_desc, and accesses of it are traced */
/* Clocks from issue to a result of the unit. */
u16 time_plain_latency(const struct gpu_device *d, u8 unit);

struct region {
    u32 segment, nsegments; /* the first, and how many follow on each other */
    u32 first_op, end_op;
    struct step *steps;
    u32 nsteps, *step_of; /* by op - first_op */
    struct region *next;
};

enum { REGION_SLOTS = 1024 };
struct regions {
    const struct sim_module *module;
    const struct gpu_device *device;
    unsigned without;
    struct arena arena;
    struct region *table[REGION_SLOTS];
    u32 *register_of, nregisters, register_slots; /* by hash of a ref */
    ref *register_ref;
    u8 *predicates; /* by segment: 2 = ends in a branch that ptxas makes a predicate of, 1 = not, 0
                       = not looked at */
    u32 most_steps;
};

void time_regions_open(struct regions *r, const struct sim_module *m, const struct gpu_device *d,
                       unsigned without, const struct sim_trace *t);
void time_regions_close(struct regions *r);
/* The region that begins with the segment word at `*at` of the stream; *at moves behind its words.
 */
struct region *time_region_at(struct regions *r, const struct trace_warp *w, u32 at);

/* ---- machine code: registers are then the six barriers that results of unknown latency release
 * ---- */

struct played {
    const struct step *step;
    u32 event; /* of the chunk, + 1; 0 = none */
};
struct event {
    u32 word,
        next; /* where the access stands in the stream; the next one of the same instruction, + 1 */
};
/* What a warp executes of a stretch of machine code, with the accesses that it makes. */
struct chunk {
    struct played *list;
    struct event *events;
    u32 n, capacity, nevents, event_capacity;
};
struct schedule;
/* NULL: there is no machine code, or it does not fit what was traced. */
struct schedule *time_schedule_open(const struct sim_module *m, const struct gpu_device *d,
                                    const struct sim_trace *t);
void time_schedule_close(struct schedule *s);
u32 time_schedule_frame(
    const struct schedule *s); /* bytes of local memory that what was traced reaches */
/* The next stretch of the stream; *at moves behind it. False: there is none; a chunk may be empty.
 */
bool time_schedule_next(struct schedule *s, const struct trace_warp *w, u32 *at, struct chunk *out);

/* ---- traffic ---- */

static inline u64 line_number(u64 word) { return word >> 8; }
static inline u32 line_sectors(u64 word) { return word & 15; }
static inline u32 line_parts(u64 word) {
    return word >> 4 & 15;
} /* sectors that a store writes in part */

/* The sectors that a block has touched, by line and verb. */
struct touched {
    u64 *key; /* line << 1 | verb, + 1; 0 = empty */
    u8 *sectors;
    u32 n, slots;
};
/* Those of `sectors` that the block had not touched before: read, or written before (a read finds
 * them in L2). */
u32 time_touched_add(struct touched *t, u64 line, bool write, u32 sectors);
/* Those that the block has touched so far. */
u32 time_touched_get(const struct touched *t, u64 line);
void time_touched_clear(struct touched *t);
void time_touched_free(struct touched *t);

struct buffer_traffic {
    u64 start, bytes;
    double per_block[2];   /* distinct sectors that a block reads, writes */
    double shared[3];      /* part of them that the next block in x, y, z touches too */
    double chosen_from[2]; /* sectors that blocks choose from at random; 0 = they do not
                              (scattered.c) */
    double page_cost[2];   /* of a transfer between it and DRAM, as a factor */
    double dram[2]; /* chance that a sector which a block touches first is read from, written to
                       DRAM */
};

struct traffic {
    struct buffer_traffic *buffer;
    u32 nbuffers;
    double sample_sectors,
        wave_sectors;  /* touched by one block; by all that are resident at one time */
    double dram_bytes; /* of the launch, modelled */
    double evicted; /* DRAM traffic of what L2 held before, which reads push out, as a part of what
                       they read */
};

struct placement {
    u64 nblocks;
    u32 grid[3], resident; /* blocks on the whole device at one time */
};

void time_traffic_open(struct traffic *t, struct sim *s, struct sim_trace *trace, u64 base,
                       const struct placement *p, const struct gpu_device *d,
                       const struct time_options *o);
void time_traffic_close(struct traffic *t);
void time_scattered(struct traffic *t, const struct touched *sets, const struct sim_trace *trace);
void time_pages(struct traffic *t, const struct touched *sets, const struct sim_trace *trace,
                u64 base, const struct placement *p);
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
    u64 random;
};
void time_cache_open(struct cache *c, double bytes);
void time_cache_close(struct cache *c);
void time_cache_forget(struct cache *c);
struct cache_line *time_cache_find(struct cache *c, u64 line); /* NULL: not there */
struct cache_line *time_cache_insert(struct cache *c,
                                     u64 line); /* in the place of another, chosen at random */

/* ---- replay ---- */

/* What the SM's time goes to, in cycles that the resource is busy. */
enum resource {
    R_ISSUE,
    R_ALU,
    R_FMA,
    R_FP64,
    R_XU,
    R_LSU,
    R_SHARED,
    R_L1,
    R_L2,
    R_DRAM,
    R_ATOMICS,
    R_SLICE,
    R_TENSOR,
    R_COUNT
};
enum stall {
    STALL_NONE,
    STALL_ARITHMETIC,
    STALL_SHARED,
    STALL_L1,
    STALL_L2,
    STALL_DRAM,
    STALL_ATOMIC,
    STALL_BARRIER,
    STALL_COUNT
};

struct replay_input {
    const struct gpu_device *device;
    struct sim *sim;
    struct regions *regions;
    struct schedule *schedule; /* NULL: from PTX */
    struct traffic *traffic;
    struct sim_trace *trace;
    const struct placement *place;
    u64 base;         /* the block whose neighbours are traced, too */
    const u32 *order; /* which traced block is the n-th of the SM */
    u32 norder;
    bool last_waits;      /* of blocks that run at one time, the last waits longest: core/pace.c */
    u32 blocks, resident; /* blocks that the SM runs in all, at one time */
    double active_sms;    /* among which L2 and DRAM are shared */
    u32 shared_bytes, local_bytes, threads; /* per block, per thread, per block */
    double spills; /* accesses to registers that ptxas keeps in local memory, for each operation of
                      PTX */
    unsigned without;
    u64 most_steps; /* of work, after which the rest is extrapolated */
};

struct replay_result {
    double cycles;
    double busy[R_COUNT];             /* part of the cycles that each is busy, 0..1 */
    double stalls[STALL_COUNT];       /* parts of the warps' waiting */
    double (*waits)[SIM_STALL_COUNT]; /* by op of the module: cycles that warps spent there; owned:
                                        free it */
    double l1_hits, l2_hits;          /* rates by sector */
    double grid;                      /* cycles that barriers of the grid took */
    u32 simulated;
    bool truncated;
};

void time_replay(const struct replay_input *in, struct replay_result *out);

/* ---- what people look at ---- */

/* parts.c: what the device's seconds go to. */
void time_parts(const struct replay_result *r, double device, double launch,
                double parts[TIME_PARTS]);
/* look.c: by line of the result, what warps spent there, so that all lines have `seconds`; the
 * accesses of the traced blocks. */
void time_look_waits(const struct sim_module *m, double (*waits)[SIM_STALL_COUNT], double seconds,
                     struct sim_result *out);
void time_look_accesses(const struct sim_module *m, const struct sim_trace *t,
                        struct sim_result *out);
