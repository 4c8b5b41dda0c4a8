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
enum { TRACE_GRID = 7 /* a space beside those of enum mem_space */ };

static inline bool trace_is_access(u64 w) { return w >> 63; }
static inline u32 trace_low(u64 w) { return (u32)w; } /* segment, or op of the access */
static inline u32 trace_entries(u64 w) { return (u32)(w >> 32) & 0xff; }
static inline u32 trace_lanes(u64 w) { return (u32)(w >> 40) & 0x3f; }
static inline u32 trace_space(u64 w) {
    return (u32)(w >> 46) & 7;
} /* enum mem_space, never generic; TRACE_GRID */
static inline u32 trace_verb(u64 w) { return (u32)(w >> 49) & 3; } /* enum mem_verb */
/* Passes over the 32 banks; constant: distinct addresses; local: sectors; atomics: most lanes on
 * one address. */
static inline u32 trace_wavefronts(u64 w) { return (u32)(w >> 51) & 0xff; }

/* Other accesses to shared memory have no entries. */
static inline bool trace_is_mark(u64 w) {
    return trace_space(w) == SPACE_SHARED && trace_entries(w);
}

/* A warp's stream comes in parts of some hundred words. Where a block makes more words than there
 * is room for, parts are left out, all over its run: of each 2^level in a row one stays, which one
 * follows from the key. */
struct trace_part {
    u32 first; /* its first word, a segment's */
    u64 number;
};

struct trace_warp {
    u64 *words;
    u32 n, capacity;
    struct trace_part *part; /* that are kept */
    u32 nparts, part_capacity;
    u64 seen, number,
        next;  /* words made so far; the part that is being made, and where the next one begins */
    bool kept; /* the part that is being made is */
};

/* An access as its lanes asked for it; see struct sim_access. */
struct trace_look {
    u32 op, mask, cost;
    u8 space, verb, span;
    u64 ea[32];
};

struct trace_block {
    u64 linear, executed; /* executed: warp instructions */
    struct sim_work work;
    u32 nwarps;
    u64 words, limit; /* kept, and the most that may be */
    u64 key, part_words;
    u32 level;
    bool truncated, ran; /* truncated: words were left out */
    struct trace_warp *warps;
    bool looks; /* one of the few in which accesses are looked at */
    struct trace_look *look;
    u32 nlook, look_room, *look_of; /* look_of: op -> index + 1 */
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
/* Keeps the costliest access of each instruction (trace_look.c). */
struct trace_seen {
    u32 op, nops, mask, cost;
    u8 space, verb, span;
    const u64 *ea;
};
void trace_look_at(struct trace_block *t, const struct trace_seen *a);
void trace_look_free(struct trace_block *t);
/* Of a texture or surface access: the sectors that it touches, by number, and the passes that its
 * unit takes. */
void trace_texture(struct exec *x, const struct op *o, u8 verb, const u64 *sector, u32 n,
                   u32 passes);
/* Of the op's mbarrier, by its offset: see above. */
void trace_mark(struct exec *x, const struct op *o, u8 verb, u64 offset);
/* Of an arrival at the barrier of the grid (MEM_ATOM), or of the look that ends the wait. */
void trace_grid(struct exec *x, const struct op *o, u8 verb);
/* Of `bytes` consecutive bytes that a lane copies: an access for each 4 KB. */
void trace_bulk(struct exec *x, const struct op *o, u8 space, u8 verb, u64 from, u64 bytes);
/* Of rows in global memory that a lane copies by one instruction: an access for each 32 lines.
 * Begins as {0}. */
struct trace_rows {
    u64 line[33], bytes;
    u32 n;
};
void trace_rows_add(struct exec *x, const struct op *o, u8 verb, struct trace_rows *r, u64 from,
                    u64 bytes);
void trace_rows_end(struct exec *x, const struct op *o, u8 verb, struct trace_rows *r);
