/* machine.h — the SM that a replay runs, shared by replay.c (issue), replay_memory.c (L1, L2,
 * DRAM), replay_atomics.c, replay_copies.c, replay_grid.c and replay_machine.c (its rates, caches,
 * tables; its results). */
#pragma once
#include "grader/sim/timing/internal.h"

enum { SCHEDULERS = 4 };
/* Cycles of work that may be queued before a warp has to wait: loads and stores on their way to L1,
 * stores on their way to L2. No source; between half and twice these values results hardly change.
 */
static const double l1_queue = 64, l2_queue = 600, atomic_queue = 600;

#define SLICE_KEY (1ull << 63)
struct target {       /* a word that atomics update, or a slice of L2 that does them */
    u64 key;          /* address, or SLICE_KEY | number; 0 = empty */
    u64 sector;       /* of a slice: its last one */
    u32 blocks, last; /* traced blocks that go there; the last one seen, + 1 */
    double free, busy;
};

/* Lines that a store of the warp wrote in part; open: few enough for the next one to fill them up.
 */
struct stored {
    u64 line[6];
    u8 n;
    bool open;
};

enum { COPY_GROUPS = 16, COPY_PLACES = 32 };

/* An mbarrier that bulk copies come to. */
struct arrival {
    u64 place; /* its offset + 1; 0 = empty */
    double done;
    u8 why; /* whom a wait there then waits for */
};

/* What a warp began and does not wait for, until it waits for a group. */
struct flights {
    double done, group[COPY_GROUPS]; /* when all so far are; the groups of them */
    u32 groups;
    u8 why;
};

struct rwarp {
    const struct trace_warp *stream;
    u32 at;
    struct region *region;
    struct chunk chunk; /* in its place where machine code is at hand */
    u32 step, slot, scheduler;
    double time, issued;
    double operands, unit_free; /* of the next instruction: when its operands are there, when its
                                   unit takes it */
    double spills;              /* accesses to spilled registers, owed: below 1 */
    double *ready;
    u8 *why;                   /* by register: whom a reader waits for */
    u32 *event;                /* by step: where its access stands in the stream, + 1; 0 = none */
    struct stored before, now; /* its last store, and the one at hand */
    bool running, parked;
    struct flights copies, products; /* its cp.async; its warpgroup's products */
    bool ticket;                     /* its unit is reserved: only the issue slot is missing */
    bool at_grid; /* it waits until all blocks have come to the barrier of the grid */
    double held;  /* until then it goes no further, since it saw them come */
};

struct rblock {
    u32 warps, running, parked, copy; /* copy: how often its trace has been used before */
    double last, came; /* came: when its last warp came to the barrier of the cluster */
    bool relaxed;      /* and whether that released nothing */
    u32 met;           /* how often it came to the barrier of the grid */
    struct arrival arrival[COPY_PLACES]; /* by place; a later one takes the place of another */
    struct touched touched;
};

/* The barrier of the grid, as the SM's resident blocks see it. */
struct grid_meeting {
    u32 phases; /* how often all met */
    double came,
        go; /* when the last block came in the phase at hand; when the last phase let them go */
    double cycles; /* of all barriers */
    bool changed;  /* a block came, or ended */
};

struct machine {
    const struct replay_input *in;
    const struct gpu_device *d;
    struct rwarp *warps;
    struct rblock *blocks;
    u32 nwarps; /* of a block */
    u32 *heap, nheap;
    double issue[SCHEDULERS], unit[UNIT_COUNT][SCHEDULERS], interval[UNIT_COUNT];
    double lsu, l1, l2, dram;
    double dram_load, dram_noted; /* of late: part of the time; when that was last noted */
    u64 dram_requests;            /* so far */
    double busy[R_COUNT], stalls[STALL_COUNT];
    double (*waits)[SIM_STALL_COUNT]; /* by op: cycles of warps, and on what */
    double l2_cycles, dram_cycles;    /* of a sector */
    double lat_l1, lat_l2, lat_dram, lat_shared;
    struct cache l1_lines, l2_lines;
    bool l2_limited, local_spills;
    double local_dram; /* part of local memory's sectors that L2 cannot hold */
    double dispatch;   /* when the next block can start */
    double barrier;    /* when the unit that counts arrivals is free */
    struct grid_meeting grid;
    double *debt; /* DRAM sectors owed, by buffer and verb */
    struct target *targets;
    u32 target_slots, spread; /* traced blocks that are spread over the grid */
    double hits, sectors, l2_hits, l2_sectors;
    double *done;
    u32 ndone, started;
    u64 steps;
};

/* Cycles that a warp spends at an instruction. */
static inline void wait_at(struct machine *m, u32 op, enum sim_stall_reason why, double cycles) {
    m->waits[op][why] += cycles;
}
static inline double max2(double a, double b) { return a > b ? a : b; }
static inline bool off(const struct machine *m, unsigned bit) { return m->in->without & bit; }

/* replay_memory.c: what an access takes; returns when its data is there, `why`: whom a reader then
 * waits for. */
double time_memory_access(struct machine *m, struct rwarp *w, const u64 *p, double t, u8 *why);
/* An access of a warp to a register that ptxas spills; no reader is known to wait. Returns when the
 * next instruction can follow. */
double time_memory_spill(struct machine *m, double t);
/* The same of one that machine code shows: when its data is there. */
double time_memory_frame(struct machine *m, double t);
/* An access's passes through L1's data stage, counted for `r`; sectors through the SM's part of L2.
 * When they are through, and when L2 has them. */
double time_memory_l1(struct machine *m, double t, double passes, enum resource r);
double time_memory_l2(struct machine *m, double t, double sectors);
/* A line's sectors, of which the block touches `first` for the first time: where they are in DRAM,
 * `cost` sectors move, and the data are there when this says; else at `t`. */
double time_memory_far(struct machine *m, u64 line, u32 sectors, u32 first, double cost, double t);

/* replay_atomics.c: the same for atomics; when those before one are done; when all are; what they
 * keep busy. */
void time_atomic_open(struct machine *m, const struct sim_trace *t);
double time_atomic_access(struct machine *m, struct rblock *b, const u64 *p, double t,
                          const struct mem_desc *d, u8 *why);
double time_atomic_backlog(struct machine *m, const u64 *p);
double time_atomic_drained(const struct machine *m, double end);
void time_atomic_busy(struct machine *m);

/* replay_copies.c: a load of a cp.async, whose data are there then; cp.async.group; a mark of the
 * trace at `t`, `bulk`: of a bulk copy that is done then, else of the warp's cp.async. Returns when
 * the next instruction has what it waits for. */
/* A product of the warpgroup is there then: who waits for its group waits so long. */
void time_products_begin(struct rwarp *w, double ready);
void time_copies_begin(struct rwarp *w, double ready, u8 why);
void time_copies_group(struct machine *m, struct rwarp *w, const struct op *o);
double time_copies_mark(struct machine *m, struct rwarp *w, const u64 *mark, double t, bool bulk,
                        u8 *why);

/* replay_grid.c: the barrier of the grid. A mark of the trace at `t`: a block comes, or looks
 * whether all have; returns when what it reads is there. Whether all have come since, so that who
 * waits can go on; the same by force. */
double time_grid_mark(struct machine *m, struct rwarp *w, u64 mark, double t, u8 *why);
bool time_grid_meets(struct machine *m);
void time_grid_force(struct machine *m);

/* replay_machine.c */
void time_machine_open(struct machine *m, const struct replay_input *in);
void time_machine_close(struct machine *m);
void time_machine_results(struct machine *m, struct replay_result *out);
