/* late_touches.c — finds loads that touch sectors which a neighbouring block touches earlier, such
 * as those of a halo. traffic.c calls it.
 *
 * Theory of operation. Blocks that share sectors run at about the same time. The one that touches a
 * sector first waits for DRAM, the other one finds it in L2. Which one that is follows from the
 * position of the load in each block's code: a block loads its own elements, and its halo
 * afterwards. So each load has a share of late touches, from the base block and its neighbours. */
#include "grader/sim/timing/internal.h"

#include <stdlib.h>
#include <string.h>

/* A block's first touch of a sector by a load. */
struct touch {
    u64 key;         /* number of the sector + 1; 0 = free */
    u32 ordinal, op; /* ordinal: of the access in its warp */
};
struct touch_table {
    struct touch *touches;
    u32 count, slots;
};

static struct touch *find_touch(const struct touch_table *t, u64 sector) {
    u32 h = (u32)((sector * 0x9e3779b97f4a7c15ull) >> 32) & (t->slots - 1);
    while (t->touches[h].key && t->touches[h].key != sector + 1) h = (h + 1) & (t->slots - 1);
    return &t->touches[h];
}

static void grow(struct touch_table *t) {
    struct touch_table old = *t;
    t->slots = old.slots ? 2 * old.slots : 4096;
    t->touches = xcalloc(t->slots, sizeof *t->touches);
    for (u32 i = 0; i < old.slots; i++)
        if (old.touches[i].key) *find_touch(t, old.touches[i].key - 1) = old.touches[i];
    free(old.touches);
}

static void add_touch(struct touch_table *t, u64 sector, u32 ordinal, u32 op) {
    if (2 * t->count >= t->slots) grow(t);
    struct touch *x = find_touch(t, sector);
    if (x->key && x->ordinal <= ordinal) return;
    t->count += !x->key;
    *x = (struct touch){sector + 1, ordinal, op};
}

static void add_warp(struct touch_table *t, const struct trace_warp *w) {
    enum { SECTORS_PER_LINE = 4 };
    u32 ordinal = 0;
    for (u32 i = 0; i < w->nwords; i++) {
        u64 h = w->words[i];
        if (!trace_is_access(h)) continue;
        bool is_load = trace_space(h) == SPACE_GLOBAL && trace_verb(h) == MEM_LOAD;
        for (u32 k = 1; is_load && k <= trace_entries(h); k++)
            for (u32 s = 0; s < SECTORS_PER_LINE; s++)
                if (line_sectors(w->words[i + k]) >> s & 1)
                    add_touch(t, line_number(w->words[i + k]) * SECTORS_PER_LINE + s, ordinal,
                              trace_op_or_segment(h));
        ordinal += is_load;
        i += trace_entries(h);
    }
}

static void open_table(struct touch_table *t, const struct trace_block *b) {
    *t = (struct touch_table){0};
    grow(t);
    for (u32 i = 0; i < b->nwarps; i++) add_warp(t, &b->warps[i]);
}

/* Counts, by op, the touches of `a` and those of them that `b` has made earlier. */
static void count_late(const struct touch_table *a, const struct touch_table *b, double *touches,
                       double *late) {
    for (u32 i = 0; i < a->slots; i++) {
        const struct touch *x = &a->touches[i];
        if (!x->key) continue;
        const struct touch *y = find_touch(b, x->key - 1);
        touches[x->op]++;
        late[x->op] += y->key && y->ordinal < x->ordinal;
    }
}

static const struct trace_block *find_block(const struct sim_trace *trace, u64 linear) {
    for (u32 i = 0; i < trace->nblocks; i++)
        if (trace->blocks[i].linear == linear && trace->blocks[i].has_run) return &trace->blocks[i];
    return NULL;
}

/* Adds the late shares of the two blocks, of which each has another neighbour on its other side. */
static void add_pair(const struct touch_table *base, const struct trace_block *neighbor, u32 nops,
                     double *share) {
    struct touch_table t;
    double *touches = xcalloc(2ul * nops + 1, sizeof *touches), *late = touches + nops;
    open_table(&t, neighbor);
    count_late(base, &t, touches, late), count_late(&t, base, touches, late);
    for (u32 i = 0; i < nops; i++)
        if (touches[i] > 0) share[i] += 2 * late[i] / touches[i];
    free(t.touches), free(touches);
}

/* Sets each buffer's factor by which the other touches have to fetch more, so that the launch's
 * sectors remain. */
static void set_early_factors(struct traffic *t, const struct touch_table *base) {
    double *touches = xcalloc(2ul * t->nbuffers + 2, sizeof *touches),
           *early = touches + t->nbuffers + 1;
    for (u32 i = 0; i < base->slots; i++) {
        const struct touch *x = &base->touches[i];
        struct buffer_traffic *b = x->key ? time_traffic_buffer(t, (x->key - 1) * 32 + 31) : NULL;
        if (!b) continue;
        touches[b - t->buffer]++;
        early[b - t->buffer] += 1 - t->late_share[x->op];
    }
    for (u32 i = 0; i < t->nbuffers; i++)
        t->buffer[i].early_factor = early[i] > 0 ? touches[i] / early[i] : 1;
    free(touches);
}

void time_late_touches(struct traffic *t, const struct sim_trace *trace, u64 base_block,
                       const struct grid_geometry *p, u32 nops) {
    const u64 stride[3] = {1, p->grid[0], (u64)p->grid[0] * p->grid[1]};
    const struct trace_block *b = find_block(trace, base_block);
    struct touch_table base;
    t->late_share = xcalloc(nops + 1ul, sizeof *t->late_share);
    for (u32 i = 0; i < t->nbuffers; i++) t->buffer[i].early_factor = 1;
    if (!b) return;
    open_table(&base, b);
    for (u32 axis = 0; axis < 3; axis++) {
        const struct trace_block *next =
            p->grid[axis] > 1 ? find_block(trace, base_block + stride[axis]) : NULL;
        if (next) add_pair(&base, next, nops, t->late_share);
    }
    for (u32 i = 0; i < nops; i++)
        if (t->late_share[i] > 1) t->late_share[i] = 1;
    set_early_factors(t, &base);
    free(base.touches);
}
