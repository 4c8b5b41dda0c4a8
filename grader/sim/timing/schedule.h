/* schedule.h — which machine instructions the traced warps executed, for a replay.
 *
 * Theory of operation. The simulator executes PTX; ptxas has unrolled its loops, replaced branches
 * by predicates, and merged, moved and dropped instructions. Each machine instruction names the PTX
 * line that it was made from, and so the segment (straight-line PTX) that it belongs to.
 *
 *   schedule.c           cuts the machine code into nodes, the basic blocks of its control-flow
 * graph schedule_evidence.c  says how many times a node executes each segment: as often as it has
 * the segment's most reliable instruction, so a loop unrolled by four has it four times, and its
 * remainder once schedule_path.c      finds the path through the graph that executes a lane's
 * segments in their order, with the fewest that are left out or executed too often schedule_merge.c
 * makes the warp's path of its lanes' paths: lanes part where these do, and meet again where the
 * machine code says so schedule_replay.c    hands the instructions of one node after another to the
 * replay, each with the accesses that it made
 *
 * So a warp whose lanes leave a loop at different times executes its remainder as often as any lane
 * does. Accesses of the n-th execution of a segment in a node belong to the n-th copies there. */
#pragma once
#include "grader/sim/timing/internal.h"

#define NO_NODE UINT32_MAX
enum { MAX_LANE_GROUPS = 32 };

enum evidence { EVIDENCE_NONE, EVIDENCE_WEAK, EVIDENCE_STRONG };

struct node_copies { /* of a segment in a node; `guarded` of them have a predicate */
    u32 segment, count, guarded;
};
struct sched_node {
    u32 first, end;          /* machine instructions */
    u32 next, target;        /* nodes that may follow; NO_NODE = none */
    u32 function;            /* the node that begins it */
    u32 first_copy, ncopies; /* in schedule.copies */
    bool exits, returns, converges;
    bool is_cold; /* it calls a function that ptxas adds, for rare operands */
};
/* A step of a path: a node, and what it executes, [first, end) of the lane's segments. */
struct path_step {
    u32 node, first, end;
};
struct lane_path {
    struct path_step *steps;
    u32 nsteps, *segments, nsegments;
    u64 hash;
};
/* An execution of a segment by a node: the warp's n-th segment, as copy n of its segment there. */
struct segment_use {
    u32 visit;
    u16 copy;
    u8 first_lane, nlanes; /* the lanes that execute it here, in the order in which they do */
};
struct warp_step {
    u32 node, first_use, nuses;
    bool jumps; /* another node than the next one follows */
};
struct warp_path { /* shared by warps that execute the same segments with the same lanes */
    struct warp_step *steps;
    u32 nsteps, step_capacity;
    struct segment_use *uses;
    u32 nuses, use_capacity;
    u64 hash;
};
struct warp_schedule {
    const struct trace_warp *trace;
    const struct warp_path *path;
    u32 *visit_words, nvisits; /* the place of each segment in the trace */
};
struct op_sites { /* the machine instructions of an op in a node */
    u32 node, op; /* op: 1 + its number; 0 = empty slot */
    u32 first, n; /* in schedule.site_insns */
};

struct schedule {
    const struct sim_module *m;
    const struct gpu_device *d;
    const struct sass_insn *code;
    u32 n, frame_bytes; /* frame_bytes: local memory that the issued code uses */
    struct sched_insn *insns, *skipped_barriers; /* [n]; a barrier that its lanes don't execute */
    struct sched_insn fallback_barrier;          /* for a barrier without a machine instruction */
    u32 *segment_of;                             /* [n]: UINT32_MAX = of no PTX */
    struct sched_node *nodes;
    u32 nnodes;
    struct node_copies *copies;
    u8 *evidence;     /* [segments]: enum evidence */
    u32 *anchor_line; /* [segments]: the line whose instructions count copies */
    struct op_sites *sites;
    u32 nsites, site_slots, *site_insns, nsite_insns, site_capacity;
    u32 *copies_left, *copies_used; /* [segments]: scratch */
    s64 search_budget;              /* search states that may still be visited */
    struct lane_path *lane_paths;
    u32 nlane_paths, lane_path_capacity, *lane_path_slots, nlane_path_slots;
    struct warp_path *warp_paths;
    u32 nwarp_paths;
    struct warp_schedule *warps;
    u32 nwarps, *warp_slots, nwarp_slots;
    u32 *first_event; /* [n]: 1 + its first event; UINT32_MAX: a barrier that is executed */
    /* Lines that the traces access in global memory; those of stores and atomics, and accesses to
     * the grid barrier, for which no machine instruction has been found. */
    double lines, lines_unmatched;
    s64 grid_unmatched;
};

/* schedule_evidence.c: fills in evidence, anchor_line and the nodes' copies. */
void time_schedule_count_copies(struct schedule *s);
/* Returns true if ptxas may have compiled the op to this instruction. */
bool time_schedule_may_implement(const struct sim_module *m, const struct op *o,
                                 const struct sass_insn *c);

/* schedule_path.c: consumes from `segments` at `at` on what the node executes; returns the end, and
 * adds to *cost for what it executes in vain. */
u32 time_schedule_consume(const struct schedule *s, const struct sched_node *node,
                          const u32 *segments, u32 n, u32 at, float *cost);
/* Returns the path that executes the segments; NULL if the search took too long. The schedule owns
 * it. */
const struct lane_path *time_schedule_find_path(struct schedule *s, const u32 *segments, u32 n);
void time_schedule_free_paths(struct schedule *s);

/* schedule_merge.c: returns the warp's path, which the caller owns; false if a search took too
 * long. `lanes`: of each segment. */
bool time_schedule_merge_lanes(struct schedule *s, const u32 *segments, const u32 *lanes, u32 n,
                               struct warp_path *out);

/* Returns true for an access whose wavefronts another one has, with which ptxas merged it. */
static inline bool time_schedule_is_merged(const struct schedule *s, u64 word) {
    const struct op *o = &s->m->ops[trace_op_or_segment(word)];
    return s->m->mems[o->aux].merged_bytes == MERGED_INTO_OTHER;
}

/* schedule_replay.c: prepares the warps of the traces; false if that took too long. */
bool time_schedule_prepare_warps(struct schedule *s, const struct sim_trace *t);
/* Matches a step of the warp with the accesses of its segments, without laying it out for the
 * replay; false behind the last one. */
bool time_schedule_match_step(struct schedule *s, const struct trace_warp *w, u32 step,
                              struct chunk *c);
