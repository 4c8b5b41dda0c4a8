/* replay_atomics.c — atomics in global memory.
 *
 * Theory of operation. They are done in L2, by the slice that holds the address. A request's lanes
 * go to their sectors; a sector takes as many passes as its most wanted word has lanes, since a
 * word takes one update a pass: lanes of a request that want the same word are not merged (what
 * ptxas merges before, one lane does: code/merge.c). A pass is one clock of L2, and a quarter more
 * where a slice goes on to another sector. Each word and each slice is a resource like any other,
 * shared with the SMs that go there at the same time. Sources: docs/time-model.md, "Atomics". */
#include "grader/sim/timing/machine.h"

#include <stdlib.h>

/* Clocks of L2, before compute capability 9.0: an H100 shows none. */
static const double other_sector = 0.25;
/* Of L2 bandwidth, in sectors: an atomic reads, changes and writes one. */
static const double l2_sectors = 3.5;
/* Bytes of neighbouring addresses that one slice holds. */
enum { SLICE_SHIFT = 9 };

static u64 word_of(u64 entry) { return entry & ((1ull << 56) - 1); }
static u64 sector_key(u64 address) { return address | 31; } /* never 0 */
static u64 slice_key(u64 address) { return SLICE_KEY | address >> SLICE_SHIFT; }

static struct target *find(struct machine *m, u64 key) {
    u32 h = (u32)((key * 0x9e3779b97f4a7c15ull) >> 40) & (m->target_slots - 1);
    while (m->targets[h].key && m->targets[h].key != key) h = (h + 1) & (m->target_slots - 1);
    return &m->targets[h];
}

static bool all_traced(const struct replay_input *in) {
    return in->trace->nblocks == in->place->nblocks;
}

/* Not one of those that are traced because they are neighbours of another. Where these meet it is
 * not by chance. */
static bool is_spread(const struct replay_input *in, u64 block) {
    const u32 *grid = in->place->grid;
    const u64 step[3] = {1, grid[0], (u64)grid[0] * grid[1]};
    for (u32 axis = 0; axis < 3; axis++)
        if (grid[axis] > 1 && block == in->base + step[axis]) return all_traced(in);
    return true;
}

static void note(struct machine *m, u64 key, u32 block) {
    struct target *t = find(m, key);
    t->key = key;
    if (t->last != block + 1) t->blocks++, t->last = block + 1;
}

/* All words under atomics in the block's trace; with `m`, they are noted. */
static u64 each_entry(struct machine *m, const struct trace_block *block, u32 b) {
    u64 n = 0;
    for (u32 w = 0; w < block->nwarps; w++) {
        const struct trace_warp *s = &block->warps[w];
        for (u32 i = 0; i < s->nwords; i++) {
            u64 h = s->strings[i];
            if (!trace_is_access(h)) continue;
            bool atomic = trace_space(h) == SPACE_GLOBAL && trace_verb(h) >= MEM_ATOM;
            for (u32 k = 1; atomic && k <= trace_entries(h); k++, n++)
                if (m)
                    note(m, sector_key(word_of(s->strings[i + k])), b),
                        note(m, slice_key(word_of(s->strings[i + k])), b);
            i += trace_entries(h);
        }
    }
    return n;
}

void time_atomic_open(struct machine *m, const struct sim_trace *t) {
    u64 n = 0;
    for (u32 b = 0; b < t->nblocks; b++) n += 2 * each_entry(NULL, &t->blocks[b], b);
    for (m->target_slots = 64; m->target_slots < 2 * n; m->target_slots *= 2) {}
    m->targets = xcalloc(m->target_slots, sizeof *m->targets);
    for (u32 b = 0; b < t->nblocks; b++)
        if (is_spread(m->in, t->blocks[b].linear)) m->spread++, each_entry(m, &t->blocks[b], b);
}

/* All SMs' load there over this one's. Its blocks go there as often as `blocks` of the n traced
 * ones do; how often the others do is what one of them says about the rest. Where all are traced,
 * no more than these go there. */
static double contenders(const struct machine *m, const struct target *t) {
    double n = m->spread, k = t->blocks;
    if (k < 2) return 1;
    double all = max2(1, m->in->active_sms * (k - 1) / (n - 1) * n / k);
    return all_traced(m->in) && all > k ? k : all;
}

static double occupy(struct machine *m, u64 key, double at, double cycles) {
    struct target *t = find(m, key);
    double cost = off(m, TERM_BIT(ATOMICS)) ? 0 : cycles * contenders(m, t);
    t->free = max2(t->free, at) + cost;
    t->busy += cost;
    return t->free;
}

/* Most lanes that want one word of the sector of p[k]; notes in `seen` which entries are of that
 * sector. */
static double most_wanted(const u64 *p, u32 k, u64 *seen) {
    double most = 0;
    for (u32 j = k; j <= trace_entries(*p); j++) {
        if (word_of(p[j]) >> 5 != word_of(p[k]) >> 5) continue;
        *seen |= 1ull << (j - 1);
        most = max2(most, (double)(p[j] >> 56));
    }
    return most;
}

/* What the slice does not have comes from DRAM, 64 bytes, and goes there again. Meanwhile it serves
 * others. */
static double come(struct machine *m, struct rblock *b, u64 word, double t) {
    u64 line = word >> 7;
    u32 sector = 1u << (word >> 5 & 3), first = time_touched_add(&b->touched, line, true, sector);
    return time_memory_far(m, line, sector, first, 4, t);
}

double time_atomic_access(struct machine *m, struct rblock *b, const u64 *p, double t,
                          const struct mem_desc *d, u8 *why) {
    double start = time_memory_l1(m, t, 1, R_L1), ready = start + m->lat_l2,
           clock = m->d->clock_hz / m->d->atomic_rate;
    bool floats = d->type == PTX_F32 || d->type == PTX_F64;
    double update = floats ? m->d->clock_hz / m->d->atomic_float_rate : clock;
    u64 seen = 0;
    for (u32 k = 1, n = trace_entries(*p); k <= n; k++) {
        if (seen >> (k - 1) & 1) continue;
        double most = most_wanted(p, k, &seen), at = time_memory_l2(m, start, l2_sectors),
               there = come(m, b, word_of(p[k]), at),
               done = max2(there, occupy(m, sector_key(word_of(p[k])), at, most * update));
        struct target *slice = find(m, slice_key(word_of(p[k])));
        u64 sector = word_of(p[k]) >> 5;
        bool other = slice->sector && slice->sector != sector;
        double passes = (most + (other && m->d->cc_major < 9 ? other_sector : 0)) * clock;
        slice->sector = sector;
        ready = max2(ready, max2(done, occupy(m, slice->key, at, passes)) + m->lat_l2);
    }
    *why = STALL_ATOMIC;
    return ready;
}

double time_atomic_backlog(struct machine *m, const u64 *p) {
    u64 word = word_of(p[1]);
    return max2(find(m, sector_key(word))->free, find(m, slice_key(word))->free);
}

double time_atomic_drained(const struct machine *m, double end) {
    for (u32 i = 0; i < m->target_slots; i++) end = max2(end, m->targets[i].free);
    return end;
}

void time_atomic_busy(struct machine *m) {
    for (u32 i = 0; i < m->target_slots; i++) {
        enum resource r = m->targets[i].key & SLICE_KEY ? R_SLICE : R_ATOMICS;
        m->busy[r] = max2(m->busy[r], m->targets[i].busy);
    }
}
