/* trace.h — the trace of sampled blocks: what they did, in order. core writes it, and the time
 * model (sim/timing) reads it.
 *
 * Each warp of a traced block has a stream of 64-bit words. A segment word says that a segment of
 * the code begins, and for which lanes: 31 bits of its number, then 32 of the lanes. The accesses
 * of that segment follow, each a header and `entries` words:
 *
 *   global, constant, generic   one word for each 128-byte line: line number << 8 | mask of the
 *                               sectors that a store covers partially << 4 | mask of all sectors
 *   global atomics              one word for each address: multiplicity << 56 | address; the top
 *                               bit marks a compare-and-swap that finds the value it expects
 *   local                       one word for each 128-byte line: number of the word in the
 *                               threads' local memory << 8 | mask of the sectors
 *   shared                      none: the header says everything
 *   mbarrier                    in shared memory, after the op's accesses: the offset of the
 *                               mbarrier at which a copy arrives (a store), or whose phase a wait
 *                               saw complete (a load)
 *   distributed shared memory   none: its "wavefronts" are 32-byte sectors
 *   grid barrier                none: where the block arrives (an atomic), and where it first
 *                               observes the completion (a load) */
#pragma once
#include "grader/sim/code/insn.h"
#include "grader/sim/sim.h"

#include <stdbool.h>

#define TRACE_ACCESS (1ull << 63)
enum { TRACE_GRID_BARRIER = 7 /* a space in addition to those of enum mem_space */ };

/* Of an entry of a global atomic. */
#define TRACE_SWAPPED (1ull << 63)
static inline u32 trace_lanes_on_word(u64 entry) { return (u32)(entry >> 56) & 0x7f; }
static inline u64 trace_word_address(u64 entry) { return entry & ((1ull << 56) - 1); }

static inline bool trace_is_access(u64 w) { return w >> 63; }
static inline u32 trace_op_or_segment(u64 w) {
    return (u32)w & 0x7fffffff;
} /* segment, or op of the access */
static inline u32 trace_segment_lanes(u64 w) { return (u32)(w >> 31); }
static inline u32 trace_entries(u64 w) { return (u32)(w >> 32) & 0xff; }
static inline u32 trace_lanes(u64 w) { return (u32)(w >> 40) & 0x3f; }
static inline u32 trace_space(u64 w) {
    return (u32)(w >> 46) & 7;
} /* enum mem_space, never generic; TRACE_GRID_BARRIER */
static inline u32 trace_verb(u64 w) { return (u32)(w >> 49) & 3; } /* enum mem_verb */
/* Shared: wavefronts; constant: distinct addresses; local: sectors; atomics: multiplicity. */
static inline u32 trace_wavefronts(u64 w) { return (u32)(w >> 51) & 0xff; }

/* Returns the header of an access as `lanes` of its `of` lanes make it, with `entries`. */
static inline u64 trace_with_part(u64 w, u32 entries, u32 lanes, u32 of) {
    u64 some = (trace_lanes(w) * lanes + of - 1) / of,
        wavefronts = (trace_wavefronts(w) * lanes + of - 1) / of;
    w &= ~(0xffull << 32 | 0x3full << 40 | 0xffull << 51);
    return w | (u64)entries << 32 | some << 40 | wavefronts << 51;
}

/* Other accesses to shared memory have no entries. */
static inline bool trace_is_mbarrier(u64 w) {
    return trace_space(w) == SPACE_SHARED && trace_entries(w);
}

/* A warp's stream consists of chunks of some hundred words. If a block's trace exceeds its limit,
 * only one of each 2^decimation_level consecutive chunks is kept; the key selects it. */
struct trace_chunk {
    u32 first_word; /* a segment word */
    u64 index;
};

struct trace_warp {
    u64 *words;
    u32 nwords, capacity;
    struct trace_chunk *chunks; /* the kept ones */
    u32 nchunks, chunk_capacity;
    /* words so far, kept or not; the current chunk, and where the next one begins */
    u64 produced_words, chunk_index, next_chunk_at;
    bool is_recording; /* the current chunk is kept */
};

/* One instruction's costliest access, by lane; see struct sim_access. */
struct trace_max_access {
    u32 op, mask, cost;
    u8 space, verb, span;
    u64 ea[32];
};

struct trace_block {
    u64 linear, warp_insns; /* index in the grid; warp instructions executed */
    struct sim_block_work work;
    u32 nwarps;
    u64 kept_words, max_words; /* words */
    u64 key, chunk_words;
    u32 decimation_level;
    bool truncated, has_run; /* truncated: some words were not kept */
    struct trace_warp *warps;
    u32 swapping_lanes; /* of the compare-and-swap to be traced: those that find what they expect */
    bool records_max_access; /* only a few blocks do */
    struct trace_max_access *max_accesses;
    u32 nmax_accesses, max_access_capacity, *max_access_index; /* by op: index + 1, 0 = none */
};

struct sim_trace {
    struct trace_block *blocks; /* ascending by linear */
    u32 nblocks;
};

/* Opens the traces of blocks, ascending. `limit`: words that are kept of a block; `key` selects the
 * chunks if there are more. */
struct sim_trace *trace_open(const u64 *blocks, u32 n, u32 nwarps, u64 limit, u64 key);
/* Returns the block's trace, or NULL; `t` may be NULL. */
struct trace_block *trace_find(struct sim_trace *t, u64 linear);
/* Traces that lanes of a warp run a segment. */
void trace_segment(struct trace_block *t, u32 warp, u32 segment, u32 lanes);
struct exec;
/* Traces an access whose pattern has just been counted under `stat`. */
void trace_access(struct exec *x, const struct op *o, u8 space, u32 stat, const u64 *ea, u32 mask);
/* An access that may be its instruction's costliest (trace_max_access.c). */
struct trace_observed_access {
    u32 op, nops, mask, cost;
    u8 space, verb, span;
    const u64 *ea;
};
/* Keeps the access if it is the costliest of its instruction so far. */
void trace_update_max_access(struct trace_block *t, const struct trace_observed_access *a);
void trace_free_max_accesses(struct trace_block *t);
/* Traces a texture or surface access: the numbers of its sectors, and the wavefronts that its unit
 * takes. */
void trace_texture(struct exec *x, const struct op *o, u8 verb, const u64 *sector, u32 n,
                   u32 wavefronts);
/* Traces the use of an mbarrier; see above. */
void trace_mbarrier(struct exec *x, const struct op *o, u8 verb, u64 offset);
/* Traces an arrival at the grid barrier (MEM_ATOM), or the load that observes its completion. */
void trace_grid_barrier(struct exec *x, const struct op *o, u8 verb);
/* Traces a bulk copy of `bytes` consecutive bytes: an access for each 4 KB. */
void trace_bulk(struct exec *x, const struct op *o, u8 space, u8 verb, u64 from, u64 bytes);
/* Traces a copy of rows in global memory by one instruction: an access for each 32 lines.
 * Initialize it to {0}; call _add for each row, then _end. */
struct trace_strided_copy {
    u64 lines[33], bytes;
    u32 nlines;
};
void trace_strided_copy_add(struct exec *x, const struct op *o, u8 verb,
                            struct trace_strided_copy *r, u64 from, u64 bytes);
void trace_strided_copy_end(struct exec *x, const struct op *o, u8 verb,
                            struct trace_strided_copy *r);
