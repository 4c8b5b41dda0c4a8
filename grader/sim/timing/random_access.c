/* random_access.c — estimates, for accesses scattered over a buffer, how many of its sectors the
 * launch accesses, and whether each opens a DRAM page. traffic.c calls it.
 *
 * Sectors. What neighbouring blocks share (traffic.c) says nothing about random accesses: two
 * blocks hardly have a sector in common, yet all blocks together access the same sectors many
 * times. Of the sampled blocks' sectors, n1 were accessed by one block, n2 by two. The estimate of
 * the unseen sectors is n1² / 2 n2 (A. Chao, "Nonparametric estimation of the number of classes in
 * a population", 1984). Accesses count as random only if about all pairs of blocks collide; with
 * halos and tiles few pairs collide often, and the estimate is not used. The sectors of a line that
 * two blocks access are one collision. Of many sectors only a part is sampled, selected by a hash.
 *
 * Pages. A DRAM transfer costs more if it is the only one to its page for a while: if a block
 * accesses only one or two sectors of 4 KiB, and its neighbours none. */
#include "grader/sim/timing/internal.h"

#include <math.h>
#include <stdlib.h>

enum { MAX_SAMPLED_SECTORS = 1 << 15, MIN_COLLISIONS = 8, MIN_BLOCKS = 8 };

struct visit {
    u64 sector; /* line << 3 | verb << 2 | sector of the line */
    u32 block, buffer;
};

static int by_sector(const void *a, const void *b) {
    const struct visit *x = a, *y = b;
    if (x->sector != y->sector) return x->sector < y->sector ? -1 : 1;
    return x->block < y->block ? -1 : x->block > y->block;
}

static bool is_sampled(u64 sector, u32 shift) {
    return !shift || !((sector * 0x9e3779b97f4a7c15ull) >> 40 & ((1u << shift) - 1));
}

static u32 collect_visits(struct visit *v, u32 n, const struct traffic *t,
                          const struct sector_set *set, u32 block, u32 shift) {
    for (u32 i = 0; i < set->slots; i++)
        for (u32 s = 0; s < 4 && set->key[i]; s++) {
            u64 key = set->key[i] - 1, sector = (key >> 1) << 3 | (key & 1) << 2 | s;
            if (!(set->sectors[i] >> s & 1) || !is_sampled(sector, shift) ||
                n == MAX_SAMPLED_SECTORS)
                continue;
            const struct buffer_traffic *b = time_traffic_buffer(t, key >> 1 << 7);
            if (b) v[n++] = (struct visit){sector, block, (u32)(b - t->buffer)};
        }
    return n;
}

/* Of one buffer and verb. */
struct collision_stats {
    double distinct, singletons, doubletons, colliding_lines, colliding_pairs;
    u64 last_collision; /* line << 1 | verb of the last doubleton */
    u8 *pair_collided;  /* by pair of blocks; NULL before the first */
};

static void record_visit(struct collision_stats *m, const struct visit *v, u32 count, u32 nblocks) {
    m->distinct++, m->singletons += count == 1, m->doubletons += count == 2;
    u32 pair = v->block * nblocks + v[count - 1].block;
    if (count != 2) return;
    m->colliding_lines += v->sector >> 2 != m->last_collision;
    m->last_collision = v->sector >> 2;
    if (!m->pair_collided) m->pair_collided = xcalloc((size_t)nblocks * nblocks, 1);
    if (m->pair_collided[pair]) return;
    m->pair_collided[pair] = 1, m->colliding_pairs++;
}

/* Returns the number of sectors that the launch's random accesses choose from; 0 if the accesses
 * are not random. The number of collisions scatters by its square root. If the whole buffer is
 * within two such errors of the estimate, it is taken for the buffer. */
static double estimate_population(const struct collision_stats *m, double blocks, u32 shift,
                                  double buffer_sectors) {
    double pairs = blocks * (blocks - 1) / 2,
           expected_pairs = pairs * (1 - exp(-m->colliding_lines / pairs));
    if (blocks < MIN_BLOCKS || m->doubletons < MIN_COLLISIONS ||
        m->colliding_pairs < expected_pairs / 2)
        return 0;
    double estimate =
        (m->distinct + m->singletons * m->singletons / (2 * m->doubletons)) * (1u << shift);
    bool is_whole = fabs(estimate - buffer_sectors) < 2 * estimate / sqrt(m->colliding_lines);
    return is_whole ? buffer_sectors : estimate;
}

static void set_populations(struct traffic *t, const struct visit *v, u32 n, u32 nblocks,
                            double nran, u32 shift) {
    struct collision_stats *stats = xcalloc(2ul * t->nbuffers + 2, sizeof *stats);
    for (u32 i = 0, count; i < n; i += count) {
        for (count = 1; i + count < n && v[i + count].sector == v[i].sector; count++) {}
        record_visit(&stats[2 * v[i].buffer + (v[i].sector >> 2 & 1)], v + i, count, nblocks);
    }
    for (u32 k = 0; k < 2 * t->nbuffers; k++) {
        t->buffer[k / 2].population[k & 1] =
            estimate_population(&stats[k], nran, shift, (double)t->buffer[k / 2].bytes / 32);
        free(stats[k].pair_collided);
    }
    free(stats);
}

void time_random_access(struct traffic *t, const struct sector_set *sets,
                        const struct sim_trace *trace) {
    double sectors = 0, nran = 0;
    u32 n = 0, shift = 0;
    for (u32 i = 0; i < trace->nblocks; i++)
        sectors += 4.0 * sets[i].n, nran += trace->blocks[i].has_run;
    while (sectors / (1u << shift) > MAX_SAMPLED_SECTORS) shift++;
    struct visit *v = xcalloc(MAX_SAMPLED_SECTORS, sizeof *v);
    for (u32 i = 0; i < trace->nblocks; i++)
        if (trace->blocks[i].has_run) n = collect_visits(v, n, t, &sets[i], i, shift);
    qsort(v, n, sizeof *v, by_sector);
    set_populations(t, v, n, trace->nblocks, nran, shift);
    free(v);
}

/* ---- pages ---- */

/* Extra cost of a transfer that has its page to itself. Measured, with the same result on an H100
 * and an H200: 1 M to 4 M random words of 64 and 256 MiB, read, written and added to, compared with
 * consecutive words (gather-26, scatter-26, red-int-16777216 of micro-*.tsv). */
static const double isolated_page_cost = 0.65;
enum { PAGE_LINES = 32, MAX_ISOLATED_SECTORS = 2 };

struct page {
    u64 number;
    u32 sectors;
    bool has_neighbor; /* a neighbouring block accesses it too */
};

static int by_number(const void *a, const void *b) {
    u64 x = ((const struct page *)a)->number, y = ((const struct page *)b)->number;
    return x < y ? -1 : x > y;
}

static u32 collect_pages(struct page *out, const struct sector_set *set) {
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

static void mark_neighbor_pages(struct page *pages, u32 n, const struct sector_set *neighbor) {
    for (u32 i = 0; i < neighbor->slots; i++) {
        struct page *p = neighbor->key[i] ? page_of(pages, n, neighbor->key[i]) : NULL;
        if (p) p->has_neighbor = true;
    }
}

/* Sets the cost of a transfer by the share of the block's sectors that are alone on their pages. */
static void set_page_costs(struct traffic *t, const struct sector_set *set, struct page *pages,
                           u32 n) {
    double *isolated = xcalloc(4ul * t->nbuffers + 4, sizeof *isolated),
           *total = isolated + 2 * t->nbuffers + 2;
    for (u32 i = 0; i < set->slots; i++) {
        const struct buffer_traffic *b =
            set->key[i] ? time_traffic_buffer(t, (set->key[i] - 1) >> 1 << 7) : NULL;
        if (!b) continue;
        const struct page *p = page_of(pages, n, set->key[i]);
        size_t k = 2 * (size_t)(b - t->buffer) + ((set->key[i] - 1) & 1);
        total[k]++, isolated[k] += p->sectors <= MAX_ISOLATED_SECTORS && !p->has_neighbor;
    }
    for (u32 k = 0; k < 2 * t->nbuffers; k++)
        t->buffer[k / 2].page_cost_factor[k & 1] =
            1 + (total[k] > 0 ? isolated_page_cost * isolated[k] / total[k] : 0);
    free(isolated);
}

void time_dram_pages(struct traffic *t, const struct sector_set *sets,
                     const struct sim_trace *trace, u64 base, const struct grid_geometry *p) {
    u64 stride[3] = {1, p->grid[0], (u64)p->grid[0] * p->grid[1]};
    u32 base_index = 0;
    while (base_index + 1 < trace->nblocks && trace->blocks[base_index].linear != base)
        base_index++;
    struct page *pages = xcalloc(sets[base_index].n + 1, sizeof *pages);
    u32 n = collect_pages(pages, &sets[base_index]);
    for (u32 i = 0; i < trace->nblocks; i++)
        for (u32 axis = 0; axis < 3; axis++)
            if (trace->blocks[i].linear == base + stride[axis] && i != base_index)
                mark_neighbor_pages(pages, n, &sets[i]);
    set_page_costs(t, &sets[base_index], pages, n);
    free(pages);
}
