/* traffic.c — estimates how much a launch moves between L2 and DRAM, from the footprints of the
 * sampled blocks. estimate.c calls it before the replay.
 *
 * Theory of operation. For each buffer the traces give the number of distinct sectors that a block
 * accesses, and the share of them that the next block along x, y and z accesses too. From these
 * follows the footprint of any number n of consecutive blocks, f × (1 + (n - 1)(1 - shared)) along
 * each axis, at most the buffer's size. Resident blocks run in step, so what they share comes from
 * DRAM once. If their footprint fits into L2, each sector of the launch's footprint comes once; if
 * not, once in each wave. Random accesses are bounded by the sectors that they choose from
 * (random_access.c), and read again what L2 has evicted since (l2_reuse.c). In the replay, a
 * block's first access to a sector goes to DRAM with the probability that yields this total. Later
 * accesses by the same block are up to the L2 model (replay_memory.c). */
#include "grader/sim/timing/internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { READ, WRITE };
static const double usable_l2_fraction = 0.8; /* of L2; beyond it, sectors in use are evicted */

/* ---- the sectors of one block ---- */

static u32 find_slot(const struct sector_set *t, u64 key) {
    u32 h = (u32)((key * 0x9e3779b97f4a7c15ull) >> 32) & (t->slots - 1);
    while (t->key[h] && t->key[h] != key) h = (h + 1) & (t->slots - 1);
    return h;
}

static void grow(struct sector_set *t) {
    struct sector_set old = *t;
    t->slots = old.slots ? 2 * old.slots : 4096;
    t->key = xcalloc(t->slots, sizeof *t->key);
    t->sectors = xcalloc(t->slots, 1);
    for (u32 i = 0; i < old.slots; i++) {
        if (!old.key[i]) continue;
        u32 h = find_slot(t, old.key[i]);
        t->key[h] = old.key[i], t->sectors[h] = old.sectors[i];
    }
    free(old.key), free(old.sectors);
}

static u32 get(const struct sector_set *t, u64 line, u32 verb) {
    if (!t->slots) return 0;
    u32 h = find_slot(t, (line << 1 | verb) + 1);
    return t->key[h] ? t->sectors[h] : 0;
}

static u32 add(struct sector_set *t, u64 line, u32 verb, u32 sectors) {
    if (t->n * 2 >= t->slots) grow(t);
    u64 key = (line << 1 | verb) + 1;
    u32 h = find_slot(t, key), first = sectors & ~(u32)t->sectors[h];
    if (!t->key[h]) t->key[h] = key, t->n++;
    t->sectors[h] |= (u8)sectors;
    return first;
}

u32 time_sector_set_add(struct sector_set *t, u64 line, bool write, u32 sectors) {
    u32 first = add(t, line, write ? WRITE : READ, sectors);
    return write ? first : first & ~get(t, line, WRITE);
}

u32 time_sector_set_get(const struct sector_set *t, u64 line) {
    return get(t, line, READ) | get(t, line, WRITE);
}

void time_sector_set_clear(struct sector_set *t) {
    if (!t->n) return;
    memset(t->key, 0, t->slots * sizeof *t->key);
    memset(t->sectors, 0, t->slots);
    t->n = 0;
}

void time_sector_set_free(struct sector_set *t) { free(t->key), free(t->sectors); }

/* ---- buffers ---- */

static int by_start(const void *key, const void *element) {
    u64 a = *(const u64 *)key;
    const struct buffer_traffic *b = element;
    return a < b->start ? -1 : a >= b->start + b->bytes;
}

struct buffer_traffic *time_traffic_buffer(const struct traffic *t, u64 address) {
    return bsearch(&address, t->buffer, t->nbuffers, sizeof *t->buffer, by_start);
}

static void list_buffers(struct traffic *t, const struct memory *m) {
    t->buffer = xcalloc(m->count + 1, sizeof *t->buffer);
    for (unsigned i = 0; i < m->count; i++)
        if (m->allocations[i].state == ALLOCATION_LIVE && m->allocations[i].size)
            t->buffer[t->nbuffers++] = (struct buffer_traffic){
                .start = SIM_BASE + m->allocations[i].start, .bytes = m->allocations[i].size};
}

/* ---- reading the traces ---- */

static void add_atomic_sector(struct sector_set *t, u64 word) {
    u64 address = word & ((1ull << 56) - 1);
    u32 sector = 1u << (address >> 5 & 3);
    add(t, address >> 7, READ, sector);
    add(t, address >> 7, WRITE, sector);
}

static void add_warp_accesses(struct sector_set *t, const struct trace_warp *w) {
    for (u32 i = 0; i < w->nwords; i++) {
        u64 h = w->words[i];
        if (!trace_is_access(h)) continue;
        u32 n = trace_entries(h), verb = trace_verb(h);
        bool atomic = verb == MEM_ATOM || verb == MEM_RED;
        for (u32 k = 1; k <= n && trace_space(h) == SPACE_GLOBAL; k++) {
            if (atomic) add_atomic_sector(t, w->words[i + k]);
            else
                time_sector_set_add(t, line_number(w->words[i + k]), verb != MEM_LOAD,
                                    line_sectors(w->words[i + k]));
        }
        i += n;
    }
}

/* Adds the block's sectors by buffer and verb; with `base`, also those that are in base's set. */
static void count_sectors(const struct traffic *t, const struct sector_set *set,
                          const struct sector_set *base, double *sectors, double *overlapping) {
    for (u32 i = 0; i < set->slots; i++) {
        if (!set->key[i]) continue;
        u64 line = (set->key[i] - 1) >> 1;
        u32 verb = (set->key[i] - 1) & 1;
        const struct buffer_traffic *b = time_traffic_buffer(t, line << 7);
        if (!b) b = time_traffic_buffer(t, (line << 7) + 127);
        if (!b) continue;
        size_t k = 2 * (size_t)(b - t->buffer) + verb;
        sectors[k] += __builtin_popcount(set->sectors[i]);
        if (base) overlapping[k] += __builtin_popcount(set->sectors[i] & get(base, line, verb));
    }
}

/* ---- footprints ---- */

static double axis_growth(double n, double shared) { return 1 + (n - 1) * (1 - shared); }

/* Returns the number of sectors that n consecutive blocks access. */
static double footprint(const struct buffer_traffic *b, unsigned verb, double n,
                        const u32 grid[3]) {
    double x = n < grid[0] ? n : grid[0], y = n / grid[0], z;
    y = y < 1 ? 1 : y < grid[1] ? y : grid[1];
    z = n / grid[0] / grid[1];
    z = z < 1 ? 1 : z;
    double all = b->sectors_per_block[verb] * axis_growth(x, b->neighbor_overlap[0]) *
                 axis_growth(y, b->neighbor_overlap[1]) * axis_growth(z, b->neighbor_overlap[2]);
    double buffer_sectors = ((double)b->bytes + 31) / 32, population = b->population[verb];
    if (population > 0)
        all = fmin(all, population * (1 - exp(-n * b->sectors_per_block[verb] / population)));
    return all < buffer_sectors ? all : buffer_sectors;
}

static void set_neighbor_overlap(struct traffic *t, const struct sector_set *sets,
                                 const struct sim_trace *trace, u64 base,
                                 const struct grid_geometry *p) {
    u64 stride[3] = {1, p->grid[0], (u64)p->grid[0] * p->grid[1]};
    const struct sector_set *base_set = NULL;
    for (u32 i = 0; i < trace->nblocks; i++)
        if (trace->blocks[i].linear == base) base_set = &sets[i];
    for (u32 axis = 0; axis < 3 && base_set; axis++)
        for (u32 i = 0; i < trace->nblocks; i++) {
            if (p->grid[axis] < 2 || trace->blocks[i].linear != base + stride[axis]) continue;
            double *sectors = xcalloc(4ul * t->nbuffers + 4, sizeof *sectors),
                   *overlapping = sectors + 2 * t->nbuffers + 2;
            count_sectors(t, &sets[i], base_set, sectors, overlapping);
            for (u32 b = 0; b < t->nbuffers; b++) {
                double total = sectors[2 * b] + sectors[2 * b + 1],
                       overlap = overlapping[2 * b] + overlapping[2 * b + 1];
                t->buffer[b].neighbor_overlap[axis] = total > 0 ? overlap / total : 0;
            }
            free(sectors);
            break;
        }
}

/* Adds the write-backs of what the cache flush before the launch has written, which reads evict: a
 * third of the sectors that come in, up to 0.44 of L2, less what the launch writes itself. Measured
 * on an H100: reads of 8 to 512 MiB (docs/time-model.md, DRAM). Evict-first lines replace each
 * other; beside a stream of them, each other sector evicts one (hints.cu: 5, 12 and 21 MB are
 * written back beside tables of 4, 12 and 16 MiB, 24 without hints). Where all lines have the hint,
 * it gains nothing (half_sums, model solution: 50 us, as without). */
static void set_eviction(struct traffic *t, const double dram_sectors[2], double kept_sectors,
                         double l2, double cold_fraction) {
    double all = dram_sectors[READ] + dram_sectors[WRITE],
           kept_share = kept_sectors > 0.01 * all ? kept_sectors / all : 1,
           out = kept_share * all * (3 - 2 * kept_share) / 3, max_out = 0.44 * l2;
    out = cold_fraction * ((out < max_out ? out : max_out) - dram_sectors[WRITE]);
    t->eviction_ratio = out > 0 && dram_sectors[READ] > 0 ? out / dram_sectors[READ] : 0;
    t->dram_bytes += out > 0 ? 32 * out : 0;
}

/* Returns the share of the launch's sectors that L2 holds already. Earlier launches are assumed to
 * have moved the same data: moving other data would cost a submission as much time as it saves. */
static double warm_fraction(const struct time_options *o, double launch_sectors, double l2) {
    if (launch_sectors > l2 || launch_sectors <= 0) return 0;
    double fraction = o->prior_dram_bytes / 32 / launch_sectors;
    return o->warm_l2 || fraction > 1 ? 1 : fraction;
}

/* Returns the share of the written sectors that an L2 without earlier data writes back before the
 * launch ends. H100 and H200: it keeps 0.36 to 0.4 of its size (ncu.tsv: copies, sums of arrays).
 */
static double written_share(const struct traffic *t, const struct grid_geometry *p,
                            const struct gpu_device *d) {
    double kept = 0.38 * (double)d->l2_bytes / 32, written = 0;
    for (u32 i = 0; i < t->nbuffers; i++)
        written += footprint(&t->buffer[i], WRITE, (double)p->nblocks, p->grid);
    return written > kept ? 1 - kept / written : 0;
}

static void set_dram_probability(struct traffic *t, const struct grid_geometry *p,
                                 const struct gpu_device *d, const struct time_options *o) {
    double l2 = usable_l2_fraction * (double)d->l2_bytes / 32, wave_sectors = 0, launch_sectors = 0,
           blocks = (double)p->nblocks, resident = p->resident_blocks, dram_sectors[2] = {0},
           kept_sectors = 0;
    for (u32 i = 0; i < t->nbuffers; i++) {
        struct buffer_traffic *b = &t->buffer[i];
        for (u32 v = 0; v < 2; v++) {
            wave_sectors += footprint(b, v, resident, p->grid);
            launch_sectors += b->launch_sectors[v] = footprint(b, v, blocks, p->grid);
            t->block_sectors += b->sectors_per_block[v];
        }
    }
    t->wave_sectors = wave_sectors;
    time_l2_reuse(t, d, blocks);
    /* Written sectors stay in L2 and reach DRAM when they are evicted; data that is in L2 already
     * need not be read. A cold L2 is full of modified sectors, from the fill that flushed it: each
     * new one evicts another. */
    double warm_share = warm_fraction(o, launch_sectors, l2), read_factor = 1 - warm_share,
           write_factor = read_factor + warm_share * 0.5 * launch_sectors / l2;
    if (o->empty_l2) write_factor *= written_share(t, p, d);
    for (u32 i = 0; i < t->nbuffers; i++) {
        struct buffer_traffic *b = &t->buffer[i];
        for (u32 v = 0; v < 2; v++) {
            double single_pass = b->launch_sectors[v],
                   first_touches = b->sectors_per_block[v] * blocks;
            double per_wave = footprint(b, v, resident, p->grid) * blocks / resident;
            double sectors = wave_sectors > l2 && per_wave > single_pass ? per_wave : single_pass;
            sectors *= v == WRITE ? write_factor : read_factor;
            b->dram_probability[v] = first_touches > 0 ? sectors / first_touches : 0;
            if (b->dram_probability[v] > 1) b->dram_probability[v] = 1;
            dram_sectors[v] += sectors;
            kept_sectors += (1 - b->evict_first_share[v]) * sectors;
            t->dram_bytes += 32 * sectors;
        }
    }
    t->writes_much = dram_sectors[WRITE] > 0.05 * (dram_sectors[READ] + dram_sectors[WRITE]);
    if (warm_share < 1 && !o->empty_l2)
        set_eviction(t, dram_sectors, kept_sectors, l2 / usable_l2_fraction, 1 - warm_share);
}

void time_traffic_open(struct traffic *t, struct sim *s, struct sim_trace *trace, u64 base,
                       const struct grid_geometry *p, const struct gpu_device *d,
                       const struct time_options *o, const struct sim_module *m) {
    *t = (struct traffic){0};
    list_buffers(t, &s->memory);
    struct sector_set *sets = xcalloc(trace->nblocks + 1, sizeof *sets);
    double *sectors = xcalloc(2ul * t->nbuffers + 2, sizeof *sectors);
    u32 ran = 0;
    for (u32 i = 0; i < trace->nblocks; i++) {
        for (u32 w = 0; w < trace->blocks[i].nwarps; w++)
            add_warp_accesses(&sets[i], &trace->blocks[i].warps[w]);
        count_sectors(t, &sets[i], NULL, sectors, NULL);
        ran += trace->blocks[i].has_run;
    }
    for (u32 b = 0; b < t->nbuffers && ran; b++)
        for (u32 v = 0; v < 2; v++) t->buffer[b].sectors_per_block[v] = sectors[2 * b + v] / ran;
    set_neighbor_overlap(t, sets, trace, base, p);
    time_random_access(t, sets, trace);
    time_dram_pages(t, sets, trace, base, p);
    time_l2_hints(t, m, trace);
    time_late_touches(t, trace, base, p, m->nops);
    set_dram_probability(t, p, d, o);
    for (u32 i = 0; i < trace->nblocks; i++) time_sector_set_free(&sets[i]);
    free(sets), free(sectors);
}

void time_traffic_close(struct traffic *t) { free(t->buffer), free(t->late_share); }
