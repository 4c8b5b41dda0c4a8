/* schedule.h — machine code laid out for a replay: shared by schedule.c, which makes it, and
 * schedule_replay.c.
 *
 * Theory of operation. The simulator executes PTX; ptxas unrolled its loops, made predicates of its
 * branches, merged, moved and dropped instructions. Each machine instruction names the line of PTX
 * that it was made from, and so the segment (straight-line stretch) of PTX that it belongs to.
 * Machine code is cut into clusters: the instructions of one innermost loop, or those of a function
 * that are in none. A segment belongs to the cluster that has most of its instructions, those of a
 * loop in PTX all to one (what is left elsewhere are remainders of unrolled loops and what was
 * hoisted); there each instruction stands `copies` times.
 *
 * A warp's stream of segments is played cluster by cluster: as many segments as one pass through
 * the cluster covers are taken off the stream (none more often than it has copies), then the basic
 * blocks of the cluster are issued of which a segment was taken, in their order; of a loop that is
 * unrolled more often than there are rounds left, as many copies as rounds. The n-th access of an
 * instruction of PTX is made by the n-th copy of its machine instruction; instructions whose
 * segments were not executed are those whose predicate was false, which cost their issue alone. */
#pragma once
#include "grader/sim/timing/internal.h"

enum { MAX_LOOPS = 4096 };
#define NO_LOOP_BODY UINT32_MAX

struct sass_location {       /* of a machine instruction */
    u32 loop_body, segment;  /* NO_LOOP_BODY: is never played, UINT32_MAX: of no PTX */
    u32 copy_index, ncopies; /* among those of its line in its cluster */
};
struct basic_block {
    u32 first, end;               /* machine instructions */
    u32 first_segment, nsegments; /* segments that it executes, in schedule.owners */
    u32 next;                     /* of the cluster; UINT32_MAX = none */
    bool is_cold;
};
struct sass_ref { /* a machine instruction of a segment, for sorting */
    u32 segment, loop_body, line, insn;
};
struct sass_sites { /* of an op that accesses memory, or a barrier: its machine instructions */
    u32 first, n;   /* in schedule.homes */
};
struct schedule {
    const struct sim_module *m;
    const struct gpu_device *d;
    const struct sass_insn *code;
    u32 n, frame_bytes;       /* frame: of local memory, as far as what was played reaches */
    struct sched_insn *insns; /* [n] */
    struct sched_insn fallback_barrier; /* one that no machine instruction was found for */
    struct sass_location *locations;    /* [n] */
    u32 *innermost_loop, nloops;        /* [n]: the innermost loop, from 1; 0 = none */
    u32 *loop_length;                   /* [nloops + 1] */
    u32 nloop_bodies, *first_block;     /* [nclusters]: its first block */
    struct basic_block *basic_blocks;
    u32 nbasic_blocks, *block_segments;
    u32 *innermost_ptx_loop,
        nptx_loops;                    /* [segments]: the innermost loop in PTX, from 1; 0 = none */
    u32 *ptx_loop_body;                /* [nptx_loops + 1]: that has most of its instructions */
    u32 *loop_body_of, *unroll_factor; /* [segments] */
    bool *unroll_exact; /* [segments]: the number of copies is counted, not taken from the cluster's
                           others */
    u32 *max_unroll_factor;   /* [nclusters]: of a segment that is sure of it */
    struct sass_sites *sites; /* [ops] */
    u32 *site_insns, nsite_insns, site_capacity;
    /* of the chunk at hand */
    u32 *taken_count, *taken_segments, ntaken;    /* [segments]: how often each was taken; which */
    u32 *first_event, *event_insns, nevent_insns; /* [n]: its first event, + 1; which have any */
    double accesses,
        unmatched; /* global ones seen so far; those that no machine instruction makes */
};
