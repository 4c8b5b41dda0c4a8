/* scattered.c — accesses all over a buffer: how many of its sectors the launch touches, and whether
 * each opens a page of DRAM.
 *
 * How many. What neighbouring blocks share (traffic.c) says nothing of blocks that meet by chance:
 * hardly any two of them have a sector in common, and yet all together they touch the same few,
 * many times. Of the sampled blocks' sectors, some are touched by one block, some by two. From both
 * numbers follows how many nobody in the sample has touched: n1² / 2 n2 (A. Chao, "Nonparametric
 * estimation of the number of classes in a population", 1984). It is chance only if about all pairs
 * of blocks meet; halos and tiles make few pairs meet often, and are left alone. Of many sectors a
 * part is looked at, chosen by a hash.
 *
 * Pages. A transfer of DRAM costs more where it is the only one that its page sees for a while:
 * where a block touches one or two sectors of 4 KiB, and its neighbours none. */
#include "grader/sim/timing/internal.h"

#include <math.h>
#include <stdlib.h>

enum { MOST_LOOKED_AT = 1 << 14, FEWEST_MEETINGS = 8, FEWEST_BLOCKS = 8 };

struct visit {
    u64 sector; /* place << 3 | verb << 2 | sector of the line */
    u32 block, buffer;
};

static int by_sector(const void *a, const void *b) {
    const struct visit *x = a, *y = b;
    if (x->sector != y->sector) return x->sector < y->sector ? -1 : 1;
    return x->block < y->block ? -1 : x->block > y->block;
}

static bool looked_at(u64 sector, u32 shift) {
    return !shift || !((sector * 0x9e3779b97f4a7c15ull) >> 40 & ((1u << shift) - 1));
}

static u32 list_visits(struct visit *v, u32 n, const struct traffic *t, const struct touched *set,
                       u32 block, u32 shift) {
    for (u32 i = 0; i < set->slots; i++)
        for (u32 s = 0; s < 4 && set->key[i]; s++) {
            u64 key = set->key[i] - 1, sector = (key >> 1) << 3 | (key & 1) << 2 | s;
            if (!(set->sectors[i] >> s & 1) || !looked_at(sector, shift) || n == MOST_LOOKED_AT)
                continue;
            const struct buffer_traffic *b = time_traffic_buffer(t, key >> 1 << 7);
            if (b) v[n++] = (struct visit){sector, block, (u32)(b - t->buffer)};
        }
    return n;
}

/* What is known of one buffer and verb. */
struct meetings {
    double distinct, once, twice, pairs;
    u8 *met; /* by pair of blocks; NULL before the first */
};

static void note(struct meetings *m, const struct visit *v, u32 times, u32 nblocks) {
    m->distinct++, m->once += times == 1, m->twice += times == 2;
    u32 pair = v->block * nblocks + v[times - 1].block;
    if (times != 2) return;
    if (!m->met) m->met = xcalloc((size_t)nblocks * nblocks, 1);
    if (m->met[pair]) return;
    m->met[pair] = 1, m->pairs++;
}

/* All sectors of the buffer that the launch's blocks choose from; 0 = they do not meet by chance.
 */
static double chosen_from(const struct meetings *m, double blocks, u32 shift) {
    double all = blocks * (blocks - 1) / 2, expected = all * (1 - exp(-m->twice / all));
    if (blocks < FEWEST_BLOCKS || m->twice < FEWEST_MEETINGS || m->pairs < expected / 2) return 0;
    return (m->distinct + m->once * m->once / (2 * m->twice)) * (1u << shift);
}

static void each_buffer(struct traffic *t, const struct visit *v, u32 n, u32 nblocks, double ran,
                        u32 shift) {
    struct meetings *all = xcalloc(2ul * t->nbuffers + 2, sizeof *all);
    for (u32 i = 0, times; i < n; i += times) {
        for (times = 1; i + times < n && v[i + times].sector == v[i].sector; times++) {}
        note(&all[2 * v[i].buffer + (v[i].sector >> 2 & 1)], v + i, times, nblocks);
    }
    for (u32 k = 0; k < 2 * t->nbuffers; k++) {
        t->buffer[k / 2].chosen_from[k & 1] = chosen_from(&all[k], ran, shift);
        free(all[k].met);
    }
    free(all);
}

void time_scattered(struct traffic *t, const struct touched *sets, const struct sim_trace *trace) {
    double sectors = 0, ran = 0;
    u32 n = 0, shift = 0;
    for (u32 i = 0; i < trace->nblocks; i++)
        sectors += 4.0 * sets[i].n, ran += trace->blocks[i].has_run;
    while (sectors / (1u << shift) > MOST_LOOKED_AT) shift++;
    struct visit *v = xcalloc(MOST_LOOKED_AT, sizeof *v);
    for (u32 i = 0; i < trace->nblocks; i++)
        if (trace->blocks[i].has_run) n = list_visits(v, n, t, &sets[i], i, shift);
    qsort(v, n, sizeof *v, by_sector);
    each_buffer(t, v, n, trace->nblocks, ran, shift);
    free(v);
}

/* ---- pages ---- */

/* An H100 and an H200 alike: 1 M to 4 M random words of 64 and 256 MiB, read, written and added to,
 * against the same number one after the other (gather-26, scatter-26, red-int-16777216 of
 * micro-*.tsv). */
static const double page_cost = 0.65;
enum { PAGE_LINES = 32, FEW_OF_A_PAGE = 2 };

struct page {
    u64 number;
    u32 sectors;
    bool common; /* with a neighbour */
};

static int by_number(const void *a, const void *b) {
    u64 x = ((const struct page *)a)->number, y = ((const struct page *)b)->number;
    return x < y ? -1 : x > y;
}

static u32 list_pages(struct page *out, const struct touched *set) {
    u32 all = 0, n = 0;
    for (u32 i = 0; i < set->slots; i++)
        if (set->key[i])
            out[all++] = (struct page){(set->key[i] - 1) / 2 / PAGE_LINES,
                                       (u32)__builtin_popcount(set->sectors[i]), false};
    qsort(out, all, sizeof *out, by_number);
    for (u32 i = 0; i < all; i++) {
        if (n && out[n - 1].number == out[i].number) out[n - 1].sectors += out[i].sectors;
        else out[n++] = out[i];
    }
    return n;
}

static struct page *page_of(struct page *pages, u32 n, u64 key) {
    struct page p = {.number = (key - 1) / 2 / PAGE_LINES};
    return bsearch(&p, pages, n, sizeof p, by_number);
}

static void mark_common(struct page *pages, u32 n, const struct touched *neighbour) {
    for (u32 i = 0; i < neighbour->slots; i++) {
        struct page *p = neighbour->key[i] ? page_of(pages, n, neighbour->key[i]) : NULL;
        if (p) p->common = true;
    }
}

/* What a transfer costs, by the part of the block's sectors that are alone on their pages. */
static void set_page_costs(struct traffic *t, const struct touched *own, struct page *pages,
                           u32 n) {
    double *alone = xcalloc(4ul * t->nbuffers + 4, sizeof *alone),
           *all = alone + 2 * t->nbuffers + 2;
    for (u32 i = 0; i < own->slots; i++) {
        const struct buffer_traffic *b =
            own->key[i] ? time_traffic_buffer(t, (own->key[i] - 1) >> 1 << 7) : NULL;
        if (!b) continue;
        const struct page *p = page_of(pages, n, own->key[i]);
        size_t k = 2 * (size_t)(b - t->buffer) + ((own->key[i] - 1) & 1);
        all[k]++, alone[k] += p->sectors <= FEW_OF_A_PAGE && !p->common;
    }
    for (u32 k = 0; k < 2 * t->nbuffers; k++)
        t->buffer[k / 2].page_cost[k & 1] = 1 + (all[k] > 0 ? page_cost * alone[k] / all[k] : 0);
    free(alone);
}

void time_pages(struct traffic *t, const struct touched *sets, const struct sim_trace *trace,
                u64 base, const struct placement *p) {
    u64 step[3] = {1, p->grid[0], (u64)p->grid[0] * p->grid[1]};
    u32 own = 0;
    while (own + 1 < trace->nblocks && trace->blocks[own].linear != base) own++;
    struct page *pages = xcalloc(sets[own].n + 1, sizeof *pages);
    u32 n = list_pages(pages, &sets[own]);
    for (u32 i = 0; i < trace->nblocks; i++)
        for (u32 axis = 0; axis < 3; axis++)
            if (trace->blocks[i].linear == base + step[axis] && i != own)
                mark_common(pages, n, &sets[i]);
    set_page_costs(t, &sets[own], pages, n);
    free(pages);
}
