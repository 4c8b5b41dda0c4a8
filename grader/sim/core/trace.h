/* trace.h — what sampled blocks did, in order: the time model's input.
 *
 * Each warp of a traced block has a stream of 64-bit words. A segment word says that a segment of
 * the code begins; the accesses that it makes follow, each a header and `entries` words:
 *
 *   global, constant, generic   one word for each 128-byte line: line number << 8 | mask of its
 * 32-byte sectors that a store writes in part << 4 | mask of all that are touched global atomics
 * one word for each address: count << 56 | address shared, local               none: the header
 * says all mark                        in shared memory: the offset of the mbarrier that a copy
 * comes to (a store), or whose phase a wait saw end (a load); after the accesses of that op other
 * blocks of the cluster none: passes are the 32-byte sectors barrier of the grid         none:
 * where the block comes to it (an atomic), and where it first looks after all have (a load) */
#pragma once
#include "grader/sim/code/insn.h"
#include "grader/sim/sim.h"

#include <stdbool.h>

#define TRACE_ACCESS (1ull << 63)
enum { TRACE_GRID_BARRIER = 7 /* a space beside those of enum mem_space */ };

static inline bool trace_is_access(u64 w) { return w >> 63; }
static inline u32 trace_op_or_segment(u64 w) { return (u32)w; } /* segment, or op of the access */
static inline u32 trace_entries(u64 w) { return (u32)(w >> 32) & 0xff; }
static inline u32 trace_lanes(u64 w) { return (u32)(w >> 40) & 0x3f; }
static inline u32 trace_space(u64 w) {
    return (u32)(w >> 46) & 7;
} /* enum mem_space, never generic; TRACE_GRID_BARRIER */
static inline u32 trace_verb(u64 w) { return (u32)(w >> 49) & 3; } /* enum mem_verb */
/* Passes over the 32 banks; constant: distinct addresses; local: sectors; atomics: most lanes on
 * one address. */
static inline u32 trace_wavefronts(u64 w) { return (u32)(w >> 51) & 0xff; }

/* Other accesses to shared memory have no entries. */
static inline bool trace_is_mbarrier(u64 w) {
    return trace_space(w) == SPACE_SHARED && trace_entries(w);
}

/* A warp's stream comes in parts of some hundred words. Where a block makes more words than there
 * is room for, parts are left out, all over its run: of each 2^level in a row one stays, which one
 * follows from the key. */
struct trace_chunk {
    u32 first_word; /* its first word, a segment's */
    u64 index;
};

struct trace_warp {
    u64 *words;
    u32 nwords, capacity;
    struct trace_chunk *chunks; /* that are kept */
    u32 nchunks, chunk_capacity;
    u64 produced_words, chunk_index, next_chunk_at; /* words made so far; the part that is being
                                                       made, and where the next one begins */
    bool is_recording;                              /* the part that is being made is */
};

/* An access as its lanes asked for it; see struct sim_access. */
struct trace_max_access {
    u32 op, mask, cost;
    u8 space, verb, span;
    u64 ea[32];
};

struct trace_block {
    u64 linear, warp_insns; /* executed: warp instructions */
    struct sim_block_work work;
    u32 nwarps;
    u64 kept_words, max_words; /* kept, and the most that may be */
    u64 key, chunk_words;
    u32 decimation_level;
    bool truncated, has_run; /* truncated: words were left out */
    struct trace_warp *warps;
    bool records_max_access; /* one of the few in which accesses are looked at */
    struct trace_max_access *max_accesses;
    u32 nmax_accesses, max_access_capacity, *max_access_index; /* css_class_of: op -> index + 1 */
};

struct sim_trace {
    struct trace_block *blocks; /* ascending by linear */
    u32 nblocks;
};

/* NULL-safe lookups; `limit`: words that are kept of a block; `key`: which ones, where it makes
 * more. */
struct sim_trace *trace_open(const u64 *blocks, u32 n, u32 nwarps, u64 limit, u64 key);
struct trace_block *trace_find(struct sim_trace *t, u64 linear);

void trace_segment(struct trace_block *t, u32 warp, u32 segment);
struct exec;
/* Of an access whose pattern has just been counted under `stat`. */
void trace_access(struct exec *x, const struct op *o, u8 space, u32 stat, const u64 *ea, u32 mask);
/* Keeps the costliest access of each instruction (trace_max_access.c). */
struct trace_observed_access {
    u32 op, nops, mask, cost;
    u8 space, verb, span;
    const u64 *ea;
};
void trace_update_max_access(struct trace_block *t, const struct trace_observed_access *a);
void trace_free_max_accesses(struct trace_block *t);
/* Of a texture or surface access: the sectors that it touches, by number, and the passes that its
 * unit takes. */
void trace_texture(struct exec *x, const struct op *o, u8 verb, const u64 *sector, u32 n,
                   u32 wavefronts);
/* Of the op's mbarrier, by its offset: see above. */
void trace_mbarrier(struct exec *x, const struct op *o, u8 verb, u64 offset);
/* Of an arrival at the barrier of the grid (MEM_ATOM), or of the look that ends the wait. */
void trace_grid_barrier(struct exec *x, const struct op *o, u8 verb);
/* Of `bytes` consecutive bytes that a lane copies: an access for each 4 KB. */
void trace_bulk(struct exec *x, const struct op *o, u8 space, u8 verb, u64 from, u64 bytes);
/* Of rows in global memory that a lane copies by one instruction: an access for each 32 lines.
 * Begins as {0}. */
struct trace_strided_copy {
    u64 lines[33], bytes;
    u32 nlines;
};
void trace_strided_copy_add(struct exec *x, const struct op *o, u8 verb,
                            struct trace_strided_copy *r, u64 from, u64 bytes);
void trace_strided_copy_end(struct exec *x, const struct op *o, u8 verb,
                            struct trace_strided_copy *r);
