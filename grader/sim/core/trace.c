/* trace.c — recording of sampled blocks; see trace.h. Runs only where a launch is sampled. */
#include "grader/sim/core/trace.h"
#include "common/grow.h"
#include "grader/sim/core/grid.h"

#include <stdlib.h>
#include <string.h>

/* Blocks whose accesses are looked at: some of the first, and one in the middle, where nothing is
 * special. */
enum { LOOKED_AT = 4 };

/* ---- what is kept where a block makes more words than there is room for ---- */

/* The last level is for parts that are too long alone: what of them finds no room is left out. */
enum { MOST_LEVEL = 40, PARTS_OF_A_WARP = 32, LEAST_PART = 64 };

/* Going down from the level at hand, one of two each time, so that what is kept was kept at the
 * level before, too. The first part of a run says nothing of the rest; and code that knew which
 * parts are kept could do in the others what is to cost nothing. */
static bool is_kept(const struct trace_block *t, u64 number) {
    u64 at = number >> t->level;
    for (u32 level = t->level; level; level--)
        at = 2 * at + (launch_hash(64 * at + level, t->key) >> 40 & 1);
    return at == number;
}

static void thin_warp(struct trace_block *t, struct trace_warp *w) {
    u32 n = 0, parts = 0;
    for (u32 i = 0; i < w->nparts; i++) {
        struct trace_part p = w->part[i];
        u32 words = (i + 1 < w->nparts ? w->part[i + 1].first : w->n) - p.first;
        if (!is_kept(t, p.number)) continue;
        if (words) memmove(w->words + n, w->words + p.first, words * sizeof *w->words);
        w->part[parts++] = (struct trace_part){n, p.number};
        n += words;
    }
    w->n = n, w->nparts = parts, w->kept = w->kept && is_kept(t, w->number);
    t->words += n;
}

static void thin(struct trace_block *t) {
    t->level++, t->truncated = true, t->words = 0;
    for (u32 i = 0; i < t->nwarps; i++) thin_warp(t, &t->warps[i]);
}

/* Room for `n` words at the end of the warp's stream; NULL: they are not kept. */
static u64 *take(struct trace_block *t, u32 warp, u32 n) {
    struct trace_warp *w = &t->warps[warp];
    w->seen += n;
    while (w->kept && t->words + n > t->limit && t->level < MOST_LEVEL) thin(t);
    if (w->kept && t->words + n > t->limit) t->truncated = true, w->kept = false;
    if (!w->kept) return NULL;
    GROW(w->words, w->n + n, w->capacity, 256);
    w->n += n, t->words += n;
    return w->words + w->n - n;
}

static void begin_part(struct trace_block *t, struct trace_warp *w) {
    w->number = w->seen / t->part_words, w->next = (w->number + 1) * t->part_words;
    w->kept = is_kept(t, w->number);
    if (!w->kept) return;
    GROW(w->part, w->nparts + 1, w->part_capacity, 16);
    w->part[w->nparts++] = (struct trace_part){w->n, w->number};
}

void trace_segment(struct trace_block *t, u32 warp, u32 segment) {
    if (t->warps[warp].seen >= t->warps[warp].next) begin_part(t, &t->warps[warp]);
    u64 *to = take(t, warp, 1);
    if (to) *to = segment;
}

/* ---- accesses ---- */

/* Passes that the 32 banks need for the lanes' words, phase by phase: docs/counters.md, "Shared
 * memory". */
static u32 phase_passes(const u64 *ea, u32 mask, u32 span) {
    u64 seen[32][33];
    u32 in_bank[32] = {0}, most = 0;
    for (u32 l = 0; l < 32; l++) {
        if (!(mask >> l & 1)) continue;
        for (u64 w = ea[l] >> 2; w <= (ea[l] + span - 1) >> 2; w++) {
            u32 bank = w & 31, i = 0;
            while (i < in_bank[bank] && seen[bank][i] != w) i++;
            if (i < in_bank[bank] || i > 32) continue;
            seen[bank][in_bank[bank]++] = w;
            if (in_bank[bank] > most) most = in_bank[bank];
        }
    }
    return most;
}

static u32 bank_passes(const u64 *ea, u32 mask, u32 span) {
    u32 lanes = span <= 4 ? 32 : span <= 8 ? 16 : 8, passes = 0;
    for (u32 first = 0; first < 32; first += lanes) {
        u32 part = mask & (lanes == 32 ? ~0u : ((1u << lanes) - 1) << first);
        if (part) passes += phase_passes(ea, part, span);
    }
    return passes;
}

/* Atomics in shared memory: a bank takes one lane a pass, whatever the word. Increments are merged
 * by word. */
static u32 atomic_passes(const struct mem_desc *d, const u64 *ea, u32 mask) {
    u32 in_bank[32] = {0}, most = 1;
    if (d->is_increment) return bank_passes(ea, mask, d->width);
    for (u32 l = 0; l < 32; l++) {
        if (!(mask >> l & 1)) continue;
        u32 bank = ea[l] >> 2 & 31;
        if (++in_bank[bank] > most) most = in_bank[bank];
    }
    return most;
}

static u32 add_line(u64 *line, u32 n, u64 sector) {
    u64 number = sector >> 2, bit = 1ull << (sector & 3);
    for (u32 i = n; i-- > 0;)
        if (line[i] >> 8 == number) return line[i] |= bit, n;
    line[n] = number << 8 | bit;
    return n + 1;
}

static u32 lines(const u64 *ea, u32 mask, u32 span, u64 line[64]) {
    u32 n = 0;
    for (u32 l = 0; l < 32; l++)
        if (mask >> l & 1)
            for (u64 s = ea[l] >> 5; s <= (ea[l] + span - 1) >> 5; s++) n = add_line(line, n, s);
    return n;
}

/* Of a store: which sectors it does not cover to the last byte. */
static void mark_parts(const u64 *ea, u32 mask, u32 span, u64 *line, u32 n) {
    u32 covered[64][4] = {0};
    for (u32 l = 0; l < 32; l++)
        for (u64 at = ea[l]; mask >> l & 1 && at < ea[l] + span; at++) {
            u32 i = 0;
            while (i + 1 < n && line[i] >> 8 != at >> 7) i++;
            covered[i][at >> 5 & 3] |= 1u << (at & 31);
        }
    for (u32 i = 0; i < n; i++)
        for (u32 k = 0; k < 4; k++)
            if (covered[i][k] && covered[i][k] != ~0u) line[i] |= 16ull << k;
}

static u32 targets(const u64 *ea, u32 mask, u64 out[64], u32 *most) {
    u32 n = 0;
    *most = 0;
    for (u32 l = 0; l < 32; l++) {
        if (!(mask >> l & 1)) continue;
        u64 address = ea[l] & ((1ull << 56) - 1);
        u32 i = 0;
        while (i < n && (out[i] & ((1ull << 56) - 1)) != address) i++;
        out[i] = i < n ? out[i] + (1ull << 56) : address | 1ull << 56;
        if (i == n) n++;
        if (out[i] >> 56 > *most) *most = (u32)(out[i] >> 56);
    }
    return n;
}

/* One lane does the warp's atomics: code/merge.c says where ptxas arranges that. */
static bool aggregated(const struct mem_desc *d, const struct mem_memo *m, u32 mask) {
    return m->shape == SHAPE_UNIFORM &&
           (d->warp_aggregation == AGGREGATE_ALWAYS ||
            (d->warp_aggregation == AGGREGATE_FULL_WARPS && mask == ~0u));
}

struct access {
    u32 space, verb, lanes, passes;
};

static void put_access(struct exec *x, const struct op *o, struct access a, const u64 *entry,
                       u32 n) {
    u64 header = TRACE_ACCESS | (u64)(a.passes & 0xff) << 51 | (u64)a.verb << 49 |
                 (u64)a.space << 46 | (u64)a.lanes << 40 | (u64)n << 32 |
                 (u32)(o - x->worker->launch->ops);
    u64 *to = take(x->trace, x->warp->index, n + 1);
    if (!to) return;
    *to = header;
    if (n) memcpy(to + 1, entry, n * sizeof *entry);
}

/* What it costs where it goes: sectors in global memory, else passes. */
static void look_at(struct exec *x, const struct op *o, u8 space, u32 passes, const u64 *entry,
                    u32 n, const u64 *ea, u32 mask) {
    const struct mem_desc *d = &x->mems[o->aux];
    struct trace_seen a = {.op = (u32)(o - x->worker->launch->ops),
                           .nops = x->worker->launch->module->nops,
                           .mask = mask,
                           .cost = passes,
                           .space = space,
                           .verb = d->verb,
                           .span = (u8)(d->width * d->count),
                           .ea = ea};
    bool sectors = space == SPACE_GLOBAL && (d->verb == MEM_LOAD || d->verb == MEM_STORE);
    bool narrow =
        space == SPACE_SHARED && !(d->verb == MEM_ATOM || d->verb == MEM_RED) && a.span <= 4;
    if (narrow)
        a.cost = bank_passes(ea, mask, a.span); /* of itself, not of what ptxas merges it into */
    if (sectors) a.cost = 0;
    for (u32 i = 0; sectors && i < n; i++) a.cost += (u32)__builtin_popcountll(entry[i] & 15);
    trace_look_at(x->trace, &a);
}

void trace_grid(struct exec *x, const struct op *o, u8 verb) {
    put_access(x, o, (struct access){.space = TRACE_GRID, .verb = verb, .lanes = 1}, NULL, 0);
}

void trace_access(struct exec *x, const struct op *o, u8 space, u32 stat, const u64 *ea, u32 mask) {
    const struct mem_desc *d = &x->mems[o->aux];
    if (space == SPACE_GLOBAL && grid_is_seen(x, d, ea, mask)) return trace_grid(x, o, MEM_LOAD);
    const struct mem_memo *m = &x->memos[stat];
    u64 entry[64];
    u32 n = 0, span = (u32)d->width * d->count, passes = 1;
    bool atomic = d->verb == MEM_ATOM || d->verb == MEM_RED;
    if (atomic && aggregated(d, m, mask)) mask &= -mask;
    if (space == SPACE_GLOBAL && atomic) n = targets(ea, mask, entry, &passes);
    else if (space == SPACE_GLOBAL) {
        n = lines(ea, mask, span, entry);
        if (d->verb == MEM_STORE) mark_parts(ea, mask, span, entry, n);
        passes = m->shape == SHAPE_UNIFORM ? 1 : bank_passes(ea, mask, span);
    } else if (space == SPACE_CLUSTER) {
        u32 touched = lines(ea, mask, span, entry);
        for (u32 i = passes = 0; i < touched; i++)
            passes += (u32)__builtin_popcountll(entry[i] & 15);
    } else if (space == SPACE_SHARED) passes = atomic ? atomic_passes(d, ea, mask) : m->wavefronts;
    else if (space == SPACE_LOCAL) passes = m->sectors_at[(u32)ea[__builtin_ctz(mask)] & 3];
    else passes = m->wavefronts;
    u32 active = (u32)__builtin_popcount(mask);
    if (x->trace->looks) look_at(x, o, space, passes, entry, n, ea, mask);
    put_access(x, o,
               (struct access){.space = space, .verb = d->verb, .lanes = active, .passes = passes},
               entry, n);
}

void trace_texture(struct exec *x, const struct op *o, u8 verb, const u64 *sector, u32 n,
                   u32 passes) {
    enum { PIECE = 64 };
    u64 line[PIECE + 1];
    struct access a = {.space = SPACE_GLOBAL,
                       .verb = verb,
                       .lanes = (u32)__builtin_popcount(x->active),
                       .passes = passes};
    for (u32 first = 0; first < n; first += PIECE, a.passes = 1) {
        u32 lines = 0;
        for (u32 i = first; i < n && i < first + PIECE; i++)
            lines = add_line(line, lines, sector[i]);
        put_access(x, o, a, line, lines);
    }
}

void trace_bulk(struct exec *x, const struct op *o, u8 space, u8 verb, u64 from, u64 bytes) {
    enum { LINE = 128, PIECE = 32 * LINE };
    u64 line[PIECE / LINE + 1], end = from + bytes;
    for (u64 next; from < end; from = next) {
        u32 n = 0;
        next = (from / PIECE + 1) * PIECE < end ? (from / PIECE + 1) * PIECE : end;
        for (u64 s = from >> 5; s <= (next - 1) >> 5; s++) n = add_line(line, n, s);
        struct access a = {.space = space,
                           .verb = verb,
                           .lanes = 1,
                           .passes = (u32)((next - from + LINE - 1) / LINE)};
        put_access(x, o, a, line, space == SPACE_GLOBAL ? n : 0);
    }
}

void trace_rows_end(struct exec *x, const struct op *o, u8 verb, struct trace_rows *r) {
    enum { LINE = 128 };
    u32 passes = (u32)((r->bytes + LINE - 1) / LINE);
    struct access a = {
        .space = SPACE_GLOBAL, .verb = verb, .lanes = 1, .passes = passes < 255 ? passes : 255};
    if (r->n) put_access(x, o, a, r->line, r->n);
    r->n = 0, r->bytes = 0;
}

void trace_rows_add(struct exec *x, const struct op *o, u8 verb, struct trace_rows *r, u64 from,
                    u64 bytes) {
    enum { MOST = 32 };
    for (u64 end = from + bytes, next; from < end; from = next) {
        next = (from / 32 + 1) * 32 < end ? (from / 32 + 1) * 32 : end;
        if (r->n == MOST) trace_rows_end(x, o, verb, r);
        r->n = add_line(r->line, r->n, from >> 5);
        r->bytes += next - from;
    }
}

void trace_mark(struct exec *x, const struct op *o, u8 verb, u64 offset) {
    put_access(x, o, (struct access){.space = SPACE_SHARED, .verb = verb, .lanes = 1}, &offset, 1);
}

/* ---- the whole ---- */

struct sim_trace *trace_open(const u64 *blocks, u32 n, u32 nwarps, u64 limit, u64 key) {
    struct sim_trace *t = xcalloc(1, sizeof *t);
    t->blocks = xcalloc(n ? n : 1, sizeof *t->blocks);
    t->nblocks = n;
    for (u32 i = 0; i < n; i++) {
        u64 part = limit / PARTS_OF_A_WARP / nwarps;
        t->blocks[i] = (struct trace_block){.linear = blocks[i],
                                            .nwarps = nwarps,
                                            .limit = limit,
                                            .key = launch_hash(blocks[i], key),
                                            .part_words = part > LEAST_PART ? part : LEAST_PART};
        t->blocks[i].warps = xcalloc(nwarps, sizeof *t->blocks[i].warps);
        t->blocks[i].looks = i < LOOKED_AT || i == n / 2;
    }
    return t;
}

struct trace_block *trace_find(struct sim_trace *t, u64 linear) {
    for (u32 low = 0, high = t ? t->nblocks : 0; low < high;) {
        u32 middle = (low + high) / 2;
        if (t->blocks[middle].linear == linear) return &t->blocks[middle];
        if (t->blocks[middle].linear < linear) low = middle + 1;
        else high = middle;
    }
    return NULL;
}

void sim_trace_free(struct sim_trace *t) {
    for (u32 i = 0; t && i < t->nblocks; i++) {
        for (u32 w = 0; w < t->blocks[i].nwarps; w++)
            free(t->blocks[i].warps[w].words), free(t->blocks[i].warps[w].part);
        free(t->blocks[i].warps);
        trace_look_free(&t->blocks[i]);
    }
    if (t) free(t->blocks);
    free(t);
}
