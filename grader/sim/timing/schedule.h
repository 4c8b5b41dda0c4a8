/* schedule.h — machine code laid out for a replay: schedule.c builds it, schedule_replay.c uses it.
 *
 * Theory of operation. The simulator executes PTX; ptxas has unrolled its loops, replaced branches
 * by predicates, and merged, moved and dropped instructions. Each machine instruction names the
 * PTX line that it was made from, and so the segment (straight-line PTX) that it belongs to.
 * Machine code is divided into loop bodies: the instructions of one innermost loop, or those of a
 * function that are in no loop. A segment belongs to the loop body that has most of its
 * instructions; all segments of a PTX loop belong to the same one (other loop bodies have only
 * remainders of unrolled loops, and hoisted code). There each instruction has `unroll_factor`
 * copies.
 *
 * A warp's trace of segments is replayed loop body by loop body. One iteration of the machine loop
 * consumes as many segments of the trace as it covers, none more often than it has copies. Then the
 * basic blocks of the loop body of which a segment was consumed are issued, in their order; if
 * fewer iterations are left than the loop has copies, only as many copies as iterations. The n-th
 * copy of a machine instruction makes the n-th access of its PTX instruction. Instructions of
 * segments that were not executed have a false predicate, and cost an issue slot only. */
#pragma once
#include "grader/sim/timing/internal.h"

enum { MAX_LOOPS = 4096 };
#define NO_LOOP_BODY UINT32_MAX

struct sass_location {       /* of a machine instruction */
    u32 loop_body, segment;  /* NO_LOOP_BODY: never issued; segment UINT32_MAX: of no PTX */
    u32 copy_index, ncopies; /* among the instructions of its line in its loop body */
};
struct basic_block {
    u32 first, end;               /* machine instructions */
    u32 first_segment, nsegments; /* the segments of its code, in schedule.block_segments */
    u32 next;                     /* in its loop body; UINT32_MAX = none */
    bool is_cold;                 /* it calls a slow path, and is taken as not executed */
};
struct sass_ref { /* a machine instruction of a segment, for sorting */
    u32 segment, loop_body, line, insn;
};
struct sass_sites { /* the machine instructions of an op that accesses memory, or of a barrier */
    u32 first, n;   /* in schedule.site_insns */
};
struct schedule {
    const struct sim_module *m;
    const struct gpu_device *d;
    const struct sass_insn *code;
    u32 n, frame_bytes;                 /* frame_bytes: local memory that the issued code uses */
    struct sched_insn *insns;           /* [n] */
    struct sched_insn fallback_barrier; /* for a barrier without a machine instruction */
    struct sass_location *locations;    /* [n] */
    u32 *innermost_loop, nloops;        /* [n]: the innermost loop, from 1; 0 = none */
    u32 *loop_length;                   /* [nloops + 1]: machine instructions */
    u32 nloop_bodies, *first_block;     /* [nloop_bodies]: its first basic block */
    struct basic_block *basic_blocks;
    u32 nbasic_blocks, *block_segments;
    u32 *innermost_ptx_loop, nptx_loops; /* [segments]: the innermost PTX loop, from 1; 0 = none */
    u32 *ptx_loop_body; /* [nptx_loops + 1]: the loop body with most of its instructions */
    u32 *loop_body_of, *unroll_factor; /* [segments] */
    bool *unroll_exact;       /* [segments]: the factor is counted, not that of other segments */
    u32 *max_unroll_factor;   /* [nloop_bodies]: of segments with an exact factor */
    struct sass_sites *sites; /* [ops] */
    u32 *site_insns, nsite_insns, site_capacity;
    /* Of the current chunk: */
    u32 *taken_count, *taken_segments, ntaken;    /* [segments]: times consumed; which ones */
    u32 *first_event, *event_insns, nevent_insns; /* [n]: 1 + its first event; which have any */
    /* Global accesses of the traces so far; those for which no machine instruction was found. */
    double accesses, unmatched;
};
