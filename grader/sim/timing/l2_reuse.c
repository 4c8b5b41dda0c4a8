/* l2_reuse.c — estimates how often random accesses find in L2 what the launch accessed before, and
 * what cache hints change about that. traffic.c calls it.
 *
 * Theory of operation. L2 replaces the least recently used line. While a launch moves streams, a
 * line stays for as long as the following accesses bring in less than L2 holds: K blocks' worth. A
 * buffer of P sectors, of which each block accesses a random ones, then has P (1 - exp(-a K / P))
 * of them in L2. K follows from the sum over all buffers, which is L2's capacity; a stream counts
 * in full. An access misses with the probability exp(-a K / P), that none came in the time before
 * (H. Che, Y. Tung and Z. Wang, "Hierarchical web caching systems", 2002). Each sector also comes
 * from DRAM once.
 *
 * Lines with an evict-first hint replace each other, and nothing else: they have what others leave
 * of L2, between a least and a largest part of it. The largest one is small, since L2 is full of
 * what came before the launch, even if that is never used again.
 *
 * Measured on an H100 (grader/tests/timing/hints.cu, docs/results/h100/hints.tsv): rows of a
 * stream, each with a row of a table that a random number names. */
#include "grader/sim/timing/internal.h"

#include <math.h>
#include <stdlib.h>

enum { READ, WRITE };

/* The part of L2 that random accesses by all SMs use, if it consists of two partitions, and if not
 * (traffic.c's fraction). A line that SMs of both partitions read takes a place in both. Chosen by
 * the times of tables of 4 to 48 MiB without hints. */
static const double partitioned_fraction = 0.6, whole_fraction = 0.8;

/* The shares of it that evict-first lines have: beside a stream without the hint, and if all lines
 * have it. A table of 4 MiB with the hint misses 0.53 and 0.35 of its accesses: as with 2 and 7 MiB
 * of 50. */
static const double min_evict_first = 2 / (50 * 0.6), max_evict_first = 7 / (50 * 0.6);

/* Returns true if L2 consists of two partitions: NVIDIA's A100 and H100 white papers. */
static bool has_l2_partitions(const struct gpu_device *d) {
    return d->cc_major >= 8 && d->cc_minor == 0;
}

/* ---- hints ---- */

static bool has_hints(const struct sim_module *m) {
    for (u32 i = 0; i < m->nmems; i++)
        if (m->mems[i].l2_eviction == L2_EVICT_FIRST) return true;
    return false;
}

/* Adds the sectors of a warp's accesses by buffer and verb: all, and those with an evict-first
 * hint.
 */
static void add_warp_hints(const struct traffic *t, const struct sim_module *m,
                           const struct trace_warp *w, double (*all)[2], double (*first)[2]) {
    for (u32 i = 0; i < w->nwords; i++) {
        u64 h = w->words[i];
        if (!trace_is_access(h)) continue;
        bool is_plain = trace_space(h) == SPACE_GLOBAL && trace_verb(h) <= MEM_STORE;
        for (u32 k = 1; k <= trace_entries(h) && is_plain; k++) {
            const struct buffer_traffic *b =
                time_traffic_buffer(t, line_number(w->words[i + k]) << 7);
            u32 verb = trace_verb(h) == MEM_STORE ? WRITE : READ;
            double n = __builtin_popcount(line_sectors(w->words[i + k]));
            if (!b) continue;
            all[b - t->buffer][verb] += n;
            if (m->mems[m->ops[trace_op_or_segment(h)].aux].l2_eviction == L2_EVICT_FIRST)
                first[b - t->buffer][verb] += n;
        }
        i += trace_entries(h);
    }
}

void time_l2_hints(struct traffic *t, const struct sim_module *m, const struct sim_trace *trace) {
    if (!has_hints(m)) return;
    double(*all)[2] = xcalloc(2ul * t->nbuffers + 2, sizeof *all),
    (*first)[2] = all + t->nbuffers + 1;
    for (u32 i = 0; i < trace->nblocks; i++)
        for (u32 w = 0; w < trace->blocks[i].nwarps; w++)
            add_warp_hints(t, m, &trace->blocks[i].warps[w], all, first);
    for (u32 b = 0; b < t->nbuffers; b++)
        for (u32 v = 0; v < 2; v++)
            t->buffer[b].evict_first_share[v] = all[b][v] > 0 ? first[b][v] / all[b][v] : 0;
    free(all);
}

/* ---- occupancy ---- */

static double class_share(const struct buffer_traffic *b, u32 verb, bool is_first) {
    return is_first ? b->evict_first_share[verb] : 1 - b->evict_first_share[verb];
}

/* Returns the sectors of a class that the last n blocks have brought into L2. */
static double occupancy(const struct traffic *t, bool is_first, double n, double blocks) {
    double sum = 0;
    for (u32 i = 0; i < t->nbuffers; i++)
        for (u32 v = 0; v < 2; v++) {
            const struct buffer_traffic *b = &t->buffer[i];
            double p = b->population[v], all = b->launch_sectors[v] * n / blocks;
            if (p > 0) all = p * (1 - exp(-n * b->sectors_per_block[v] / p));
            sum += class_share(b, v, is_first) * all;
        }
    return sum;
}

/* Returns for how many blocks a line of the class stays in so much of L2; `blocks` if for ever. */
static double residence(const struct traffic *t, bool is_first, double capacity, double blocks) {
    double low = 0, high = blocks;
    if (occupancy(t, is_first, blocks, blocks) <= capacity) return blocks;
    for (u32 i = 0; i < 40; i++) {
        double middle = (low + high) / 2;
        *(occupancy(t, is_first, middle, blocks) > capacity ? &high : &low) = middle;
    }
    return low;
}

static double miss_rate(double residence, double touches, double population, double blocks) {
    return residence >= blocks ? 0 : exp(-residence * touches / population);
}

void time_l2_reuse(struct traffic *t, const struct gpu_device *d, double blocks) {
    double capacity = (double)d->l2_bytes / 32 *
                      (has_l2_partitions(d) ? partitioned_fraction : whole_fraction),
           normal = occupancy(t, false, blocks, blocks), first = occupancy(t, true, blocks, blocks),
           pool = fmin(fmax(min_evict_first * capacity, capacity - normal),
                       max_evict_first * capacity);
    if (normal + fmin(first, pool) <= capacity && first <= pool) return;
    double stay = residence(t, false, capacity - fmin(first, pool), blocks),
           stay_first = residence(t, true, pool, blocks);
    for (u32 i = 0; i < t->nbuffers; i++) {
        struct buffer_traffic *b = &t->buffer[i];
        double p = b->population[READ], touches = b->sectors_per_block[READ];
        if (p <= 0) continue;
        double misses = class_share(b, READ, false) * miss_rate(stay, touches, p, blocks) +
                        class_share(b, READ, true) * miss_rate(stay_first, touches, p, blocks);
        b->launch_sectors[READ] += (touches * blocks - b->launch_sectors[READ]) * misses;
    }
}
