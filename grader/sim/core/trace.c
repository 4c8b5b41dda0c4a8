/* trace.c — records the traces of sampled blocks; see trace.h. Only traced launches call it. */
#include "grader/sim/core/trace.h"
#include "common/grow.h"
#include "grader/sim/core/grid_barrier.h"

#include <stdlib.h>
#include <string.h>

/* Number of blocks that record max accesses: some of the first, and one in the middle of the grid,
 * which is typical. */
enum { MAX_ACCESS_BLOCKS = 4 };

/* ---- decimation: which chunks are kept of a block whose trace exceeds its limit ---- */

/* At MAX_LEVEL a single chunk may exceed the limit; the excess is dropped. */
enum { MAX_LEVEL = 40, CHUNKS_PER_WARP = 32, MIN_CHUNK_WORDS = 64 };

/* Returns true if the chunk is kept at the current level: of each two chunks of a level, the key
 * selects one for the next level, so what is kept now was kept before. Chunks are kept from the
 * whole run, since its beginning may differ from the rest, and unpredictably, so that code can't do
 * its costly work in the chunks that are dropped. */
static bool is_chunk_sampled(const struct trace_block *t, u64 number) {
    u64 at = number >> t->decimation_level;
    for (u32 level = t->decimation_level; level; level--)
        at = 2 * at + (launch_hash(64 * at + level, t->key) >> 40 & 1);
    return at == number;
}

static void decimate_warp(struct trace_block *t, struct trace_warp *w) {
    u32 n = 0, nchunks = 0;
    for (u32 i = 0; i < w->nchunks; i++) {
        struct trace_chunk p = w->chunks[i];
        u32 words = (i + 1 < w->nchunks ? w->chunks[i + 1].first_word : w->nwords) - p.first_word;
        if (!is_chunk_sampled(t, p.index)) continue;
        if (words) memmove(w->words + n, w->words + p.first_word, words * sizeof *w->words);
        w->chunks[nchunks++] = (struct trace_chunk){n, p.index};
        n += words;
    }
    w->nwords = n, w->nchunks = nchunks,
    w->is_recording = w->is_recording && is_chunk_sampled(t, w->chunk_index);
    t->kept_words += n;
}

static void decimate(struct trace_block *t) {
    t->decimation_level++, t->truncated = true, t->kept_words = 0;
    for (u32 i = 0; i < t->nwarps; i++) decimate_warp(t, &t->warps[i]);
}

/* Reserves `n` words at the end of the warp's stream; returns NULL if they are not kept. */
static u64 *reserve_words(struct trace_block *t, u32 warp, u32 n) {
    struct trace_warp *w = &t->warps[warp];
    w->produced_words += n;
    while (w->is_recording && t->kept_words + n > t->max_words && t->decimation_level < MAX_LEVEL)
        decimate(t);
    if (w->is_recording && t->kept_words + n > t->max_words)
        t->truncated = true, w->is_recording = false;
    if (!w->is_recording) return NULL;
    GROW(w->words, w->nwords + n, w->capacity, 256);
    w->nwords += n, t->kept_words += n;
    return w->words + w->nwords - n;
}

static void begin_chunk(struct trace_block *t, struct trace_warp *w) {
    w->chunk_index = w->produced_words / t->chunk_words,
    w->next_chunk_at = (w->chunk_index + 1) * t->chunk_words;
    w->is_recording = is_chunk_sampled(t, w->chunk_index);
    if (!w->is_recording) return;
    GROW(w->chunks, w->nchunks + 1, w->chunk_capacity, 16);
    w->chunks[w->nchunks++] = (struct trace_chunk){w->nwords, w->chunk_index};
}

void trace_segment(struct trace_block *t, u32 warp, u32 segment, u32 lanes) {
    if (t->warps[warp].produced_words >= t->warps[warp].next_chunk_at)
        begin_chunk(t, &t->warps[warp]);
    u64 *to = reserve_words(t, warp, 1);
    if (to) *to = (u64)lanes << 31 | segment;
}

/* ---- accesses ---- */

/* Returns the wavefronts of the lanes' words in the 32 banks, for one phase: docs/counters.md,
 * "Shared memory". */
static u32 phase_wavefronts(const u64 *ea, u32 mask, u32 span) {
    u64 seen[32][33];
    u32 in_bank[32] = {0}, max_words = 0;
    for (u32 l = 0; l < 32; l++) {
        if (!(mask >> l & 1)) continue;
        for (u64 w = ea[l] >> 2; w <= (ea[l] + span - 1) >> 2; w++) {
            u32 bank = w & 31, i = 0;
            while (i < in_bank[bank] && seen[bank][i] != w) i++;
            if (i < in_bank[bank] || i > 32) continue;
            seen[bank][in_bank[bank]++] = w;
            if (in_bank[bank] > max_words) max_words = in_bank[bank];
        }
    }
    return max_words;
}

static u32 bank_wavefronts(const u64 *ea, u32 mask, u32 span) {
    u32 lanes = span <= 4 ? 32 : span <= 8 ? 16 : 8, wavefronts = 0;
    for (u32 first = 0; first < 32; first += lanes) {
        u32 group = mask & (lanes == 32 ? ~0u : ((1u << lanes) - 1) << first);
        if (group) wavefronts += phase_wavefronts(ea, group, span);
    }
    return wavefronts;
}

/* Returns the wavefronts of an atomic in shared memory: a bank serves one lane in each, whatever
 * the word. Increments of one word are merged. */
static u32 atomic_wavefronts(const struct mem_desc *d, const u64 *ea, u32 mask) {
    u32 in_bank[32] = {0}, max_lanes = 1;
    if (d->is_increment) return bank_wavefronts(ea, mask, d->width);
    for (u32 l = 0; l < 32; l++) {
        if (!(mask >> l & 1)) continue;
        u32 bank = ea[l] >> 2 & 31;
        if (++in_bank[bank] > max_lanes) max_lanes = in_bank[bank];
    }
    return max_lanes;
}

static u32 add_line(u64 *line, u32 n, u64 sector) {
    u64 number = sector >> 2, bit = 1ull << (sector & 3);
    for (u32 i = n; i-- > 0;)
        if (line[i] >> 8 == number) return line[i] |= bit, n;
    line[n] = number << 8 | bit;
    return n + 1;
}

/* Local memory is interleaved: word w of all lanes is a line, in which eight lanes share a sector.
 */
static u32 collect_local_lines(const u64 *ea, u32 mask, u32 span, u64 line[64]) {
    enum { MAX_LINES = 64 };
    u32 n = 0;
    for (u32 l = 0; l < 32; l++)
        if (mask >> l & 1)
            for (u64 w = (u32)ea[l] >> 2; w <= ((u32)ea[l] + span - 1) >> 2 && n < MAX_LINES; w++)
                n = add_line(line, n, w << 2 | l / 8);
    return n;
}

static u32 collect_lines(const u64 *ea, u32 mask, u32 span, u64 line[64]) {
    u32 n = 0;
    for (u32 l = 0; l < 32; l++)
        if (mask >> l & 1)
            for (u64 s = ea[l] >> 5; s <= (ea[l] + span - 1) >> 5; s++) n = add_line(line, n, s);
    return n;
}

/* Marks the sectors that a store covers only partially. */
static void mark_partial_sectors(const u64 *ea, u32 mask, u32 span, u64 *line, u32 n) {
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

static u32 collect_addresses(const u64 *ea, u32 mask, u32 swapping_lanes, u64 out[64],
                             u32 *max_multiplicity) {
    u32 n = 0;
    *max_multiplicity = 0;
    for (u32 l = 0; l < 32; l++) {
        if (!(mask >> l & 1)) continue;
        u64 address = trace_word_address(ea[l]);
        u32 i = 0;
        while (i < n && trace_word_address(out[i]) != address) i++;
        out[i] = i < n ? out[i] + (1ull << 56) : address | 1ull << 56;
        if (swapping_lanes >> l & 1) out[i] |= TRACE_SWAPPED;
        if (i == n) n++;
        if (trace_lanes_on_word(out[i]) > *max_multiplicity)
            *max_multiplicity = trace_lanes_on_word(out[i]);
    }
    return n;
}

/* Returns true if one lane does the warp's atomics: code/access_merging.c says where ptxas arranges
 * that. */
static bool is_aggregated(const struct mem_desc *d, const struct access_pattern *m, u32 mask) {
    return m->shape == PATTERN_UNIFORM &&
           (d->warp_aggregation == AGGREGATE_ALWAYS ||
            (d->warp_aggregation == AGGREGATE_FULL_WARPS && mask == ~0u));
}

struct access_header {
    u32 space, verb, lanes, wavefronts;
};

static void append_access(struct exec *x, const struct op *o, struct access_header a,
                          const u64 *entry, u32 n) {
    u64 header = TRACE_ACCESS | (u64)(a.wavefronts & 0xff) << 51 | (u64)a.verb << 49 |
                 (u64)a.space << 46 | (u64)a.lanes << 40 | (u64)n << 32 |
                 (u32)(o - x->worker->launch->ops);
    u64 *to = reserve_words(x->trace, x->warp->index, n + 1);
    if (!to) return;
    *to = header;
    if (n) memcpy(to + 1, entry, n * sizeof *entry);
}

/* Records the access if it is its instruction's costliest: in sectors of global memory, else in
 * wavefronts. */
static void record_max_access(struct exec *x, const struct op *o, u8 space, u32 wavefronts,
                              const u64 *entry, u32 n, const u64 *ea, u32 mask) {
    const struct mem_desc *d = &x->mems[o->aux];
    struct trace_observed_access a = {.op = (u32)(o - x->worker->launch->ops),
                                      .nops = x->worker->launch->module->nops,
                                      .mask = mask,
                                      .cost = wavefronts,
                                      .space = space,
                                      .verb = d->verb,
                                      .span = (u8)(d->width * d->count),
                                      .ea = ea};
    bool counts_sectors = space == SPACE_GLOBAL && (d->verb == MEM_LOAD || d->verb == MEM_STORE);
    bool is_single_wavefront_phase =
        space == SPACE_SHARED && !(d->verb == MEM_ATOM || d->verb == MEM_RED) && a.span <= 4;
    if (is_single_wavefront_phase)
        a.cost =
            /* its own, not those of the access that ptxas merges it into */
            bank_wavefronts(ea, mask, a.span);
    if (counts_sectors) a.cost = 0;
    for (u32 i = 0; counts_sectors && i < n; i++)
        a.cost += (u32)__builtin_popcountll(entry[i] & 15);
    trace_update_max_access(x->trace, &a);
}

void trace_grid_barrier(struct exec *x, const struct op *o, u8 verb) {
    append_access(x, o,
                  (struct access_header){.space = TRACE_GRID_BARRIER, .verb = verb, .lanes = 1},
                  NULL, 0);
}

void trace_access(struct exec *x, const struct op *o, u8 space, u32 stat, const u64 *ea, u32 mask) {
    const struct mem_desc *d = &x->mems[o->aux];
    if (space == SPACE_GLOBAL && grid_barrier_observes_release(x, d, ea, mask))
        return trace_grid_barrier(x, o, MEM_LOAD);
    const struct access_pattern *m = &x->pattern_cache[stat];
    u64 entry[64];
    u32 n = 0, span = (u32)d->width * d->count, wavefronts = 1;
    bool atomic = d->verb == MEM_ATOM || d->verb == MEM_RED;
    if (atomic && is_aggregated(d, m, mask)) mask &= -mask;
    if (space == SPACE_GLOBAL && atomic)
        n = collect_addresses(ea, mask, x->trace->swapping_lanes, entry, &wavefronts);
    else if (space == SPACE_GLOBAL) {
        n = collect_lines(ea, mask, span, entry);
        if (d->verb == MEM_STORE) mark_partial_sectors(ea, mask, span, entry, n);
        wavefronts = m->shape == PATTERN_UNIFORM ? 1 : bank_wavefronts(ea, mask, span);
    } else if (space == SPACE_CLUSTER) {
        u32 nlines = collect_lines(ea, mask, span, entry);
        for (u32 i = wavefronts = 0; i < nlines; i++)
            wavefronts += (u32)__builtin_popcountll(entry[i] & 15);
    } else if (space == SPACE_SHARED)
        wavefronts = atomic ? atomic_wavefronts(d, ea, mask) : m->wavefronts;
    else if (space == SPACE_LOCAL) {
        wavefronts = m->sectors_by_alignment[(u32)ea[__builtin_ctz(mask)] & 3];
        n = collect_local_lines(ea, mask, span, entry);
    } else wavefronts = m->wavefronts;
    u32 active = (u32)__builtin_popcount(mask);
    if (x->trace->records_max_access)
        record_max_access(x, o, space, wavefronts, entry, n, ea, mask);
    append_access(x, o,
                  (struct access_header){
                      .space = space, .verb = d->verb, .lanes = active, .wavefronts = wavefronts},
                  entry, n);
    x->trace->swapping_lanes = 0;
}

void trace_texture(struct exec *x, const struct op *o, u8 verb, const u64 *sector, u32 n,
                   u32 wavefronts) {
    enum { PIECE_BYTES = 64 };
    u64 line[PIECE_BYTES + 1];
    struct access_header a = {.space = SPACE_GLOBAL,
                              .verb = verb,
                              .lanes = (u32)__builtin_popcount(x->active_mask),
                              .wavefronts = wavefronts};
    for (u32 first = 0; first < n; first += PIECE_BYTES, a.wavefronts = 1) {
        u32 lines = 0;
        for (u32 i = first; i < n && i < first + PIECE_BYTES; i++)
            lines = add_line(line, lines, sector[i]);
        append_access(x, o, a, line, lines);
    }
}

void trace_bulk(struct exec *x, const struct op *o, u8 space, u8 verb, u64 from, u64 bytes) {
    enum { LINE_BYTES = 128, PIECE_BYTES = 32 * LINE_BYTES };
    u64 line[PIECE_BYTES / LINE_BYTES + 1], end = from + bytes;
    for (u64 next; from < end; from = next) {
        u32 n = 0;
        next = (from / PIECE_BYTES + 1) * PIECE_BYTES < end ? (from / PIECE_BYTES + 1) * PIECE_BYTES
                                                            : end;
        for (u64 s = from >> 5; s <= (next - 1) >> 5; s++) n = add_line(line, n, s);
        struct access_header a = {.space = space,
                                  .verb = verb,
                                  .lanes = 1,
                                  .wavefronts = (u32)((next - from + LINE_BYTES - 1) / LINE_BYTES)};
        append_access(x, o, a, line, space == SPACE_GLOBAL ? n : 0);
    }
}

void trace_strided_copy_end(struct exec *x, const struct op *o, u8 verb,
                            struct trace_strided_copy *r) {
    enum { LINE_BYTES = 128 };
    u32 wavefronts = (u32)((r->bytes + LINE_BYTES - 1) / LINE_BYTES);
    struct access_header a = {.space = SPACE_GLOBAL,
                              .verb = verb,
                              .lanes = 1,
                              .wavefronts = wavefronts < 255 ? wavefronts : 255};
    if (r->nlines) append_access(x, o, a, r->lines, r->nlines);
    r->nlines = 0, r->bytes = 0;
}

void trace_strided_copy_add(struct exec *x, const struct op *o, u8 verb,
                            struct trace_strided_copy *r, u64 from, u64 bytes) {
    enum { MAX_STRIDED_LINES = 32 };
    for (u64 end = from + bytes, next; from < end; from = next) {
        next = (from / 32 + 1) * 32 < end ? (from / 32 + 1) * 32 : end;
        if (r->nlines == MAX_STRIDED_LINES) trace_strided_copy_end(x, o, verb, r);
        r->nlines = add_line(r->lines, r->nlines, from >> 5);
        r->bytes += next - from;
    }
}

void trace_mbarrier(struct exec *x, const struct op *o, u8 verb, u64 offset) {
    append_access(x, o, (struct access_header){.space = SPACE_SHARED, .verb = verb, .lanes = 1},
                  &offset, 1);
}

/* ---- all traces of a launch ---- */

struct sim_trace *trace_open(const u64 *blocks, u32 n, u32 nwarps, u64 limit, u64 key) {
    struct sim_trace *t = xcalloc(1, sizeof *t);
    t->blocks = xcalloc(n ? n : 1, sizeof *t->blocks);
    t->nblocks = n;
    for (u32 i = 0; i < n; i++) {
        u64 chunk = limit / CHUNKS_PER_WARP / nwarps;
        t->blocks[i] =
            (struct trace_block){.linear = blocks[i],
                                 .nwarps = nwarps,
                                 .max_words = limit,
                                 .key = launch_hash(blocks[i], key),
                                 .chunk_words = chunk > MIN_CHUNK_WORDS ? chunk : MIN_CHUNK_WORDS};
        t->blocks[i].warps = xcalloc(nwarps, sizeof *t->blocks[i].warps);
        t->blocks[i].records_max_access = i < MAX_ACCESS_BLOCKS || i == n / 2;
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
            free(t->blocks[i].warps[w].words), free(t->blocks[i].warps[w].chunks);
        free(t->blocks[i].warps);
        trace_free_max_accesses(&t->blocks[i]);
    }
    if (t) free(t->blocks);
    free(t);
}
