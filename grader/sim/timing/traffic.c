/* traffic.c — how much a launch must move between L2 and DRAM, from what a few blocks touch.
 *
 * Theory of operation. For each buffer: how many distinct sectors a block touches (exact, from its
 * trace), and which part of them the next block along x, y and z touches too (exact, from the
 * neighbours' traces). From these grows the footprint of any number of consecutive blocks, never
 * above the buffer's size: f × (1 + (n - 1)(1 - shared)) along each axis. Blocks that are resident
 * together run in step, so that what they share is read from DRAM once. If their footprint fits
 * into L2, each sector of the launch's footprint comes once; if not, once in each wave of blocks.
 * Where blocks go at random, what they have to choose from bounds it (scattered.c). A replayed
 * block that touches a sector for the first time finds it in DRAM with the probability that makes
 * this sum come out. Sectors that one block touches again later are the L2 model's business
 * (replay.c). */
#include "grader/sim/timing/internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { READ, WRITE };
static const double useful_l2 =
    0.8; /* of L2, before sectors that are still wanted are thrown out */

/* ---- the sectors of one block ---- */

static u32 place(const struct touched *t, u64 key) {
    u32 h = (u32)((key * 0x9e3779b97f4a7c15ull) >> 32) & (t->slots - 1);
    while (t->key[h] && t->key[h] != key) h = (h + 1) & (t->slots - 1);
    return h;
}

static void grow(struct touched *t) {
    struct touched old = *t;
    t->slots = old.slots ? 2 * old.slots : 4096;
    t->key = xcalloc(t->slots, sizeof *t->key);
    t->sectors = xcalloc(t->slots, 1);
    for (u32 i = 0; i < old.slots; i++) {
        if (!old.key[i]) continue;
        u32 h = place(t, old.key[i]);
        t->key[h] = old.key[i], t->sectors[h] = old.sectors[i];
    }
    free(old.key), free(old.sectors);
}

static u32 get(const struct touched *t, u64 line, u32 verb) {
    if (!t->slots) return 0;
    u32 h = place(t, (line << 1 | verb) + 1);
    return t->key[h] ? t->sectors[h] : 0;
}

static u32 add(struct touched *t, u64 line, u32 verb, u32 sectors) {
    if (t->n * 2 >= t->slots) grow(t);
    u64 key = (line << 1 | verb) + 1;
    u32 h = place(t, key), first = sectors & ~(u32)t->sectors[h];
    if (!t->key[h]) t->key[h] = key, t->n++;
    t->sectors[h] |= (u8)sectors;
    return first;
}

u32 time_touched_add(struct touched *t, u64 line, bool write, u32 sectors) {
    u32 first = add(t, line, write ? WRITE : READ, sectors);
    return write ? first : first & ~get(t, line, WRITE);
}

u32 time_touched_get(const struct touched *t, u64 line) {
    return get(t, line, READ) | get(t, line, WRITE);
}

void time_touched_clear(struct touched *t) {
    if (!t->n) return;
    memset(t->key, 0, t->slots * sizeof *t->key);
    memset(t->sectors, 0, t->slots);
    t->n = 0;
}

void time_touched_free(struct touched *t) { free(t->key), free(t->sectors); }

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

static void touch_target(struct touched *t, u64 word) {
    u64 address = word & ((1ull << 56) - 1);
    u32 sector = 1u << (address >> 5 & 3);
    add(t, address >> 7, READ, sector);
    add(t, address >> 7, WRITE, sector);
}

static void touch_warp(struct touched *t, const struct trace_warp *w) {
    for (u32 i = 0; i < w->nwords; i++) {
        u64 h = w->strings[i];
        if (!trace_is_access(h)) continue;
        u32 n = trace_entries(h), verb = trace_verb(h);
        bool atomic = verb == MEM_ATOM || verb == MEM_RED;
        for (u32 k = 1; k <= n && trace_space(h) == SPACE_GLOBAL; k++) {
            if (atomic) touch_target(t, w->strings[i + k]);
            else
                time_touched_add(t, line_number(w->strings[i + k]), verb != MEM_LOAD,
                                 line_sectors(w->strings[i + k]));
        }
        i += n;
    }
}

/* The block's sectors by buffer; with `base`, how many of them lie in base's set as well. */
static void count_sectors(const struct traffic *t, const struct touched *set,
                          const struct touched *base, double *sectors, double *common) {
    for (u32 i = 0; i < set->slots; i++) {
        if (!set->key[i]) continue;
        u64 line = (set->key[i] - 1) >> 1;
        u32 verb = (set->key[i] - 1) & 1;
        const struct buffer_traffic *b = time_traffic_buffer(t, line << 7);
        if (!b) b = time_traffic_buffer(t, (line << 7) + 127);
        if (!b) continue;
        size_t k = 2 * (size_t)(b - t->buffer) + verb;
        sectors[k] += __builtin_popcount(set->sectors[i]);
        if (base) common[k] += __builtin_popcount(set->sectors[i] & get(base, line, verb));
    }
}

/* ---- footprints ---- */

static double along(double n, double shared) { return 1 + (n - 1) * (1 - shared); }

/* Sectors that n consecutive blocks touch. */
static double footprint(const struct buffer_traffic *b, unsigned verb, double n,
                        const u32 grid[3]) {
    double x = n < grid[0] ? n : grid[0], y = n / grid[0], z;
    y = y < 1 ? 1 : y < grid[1] ? y : grid[1];
    z = n / grid[0] / grid[1];
    z = z < 1 ? 1 : z;
    double all = b->per_block[verb] * along(x, b->shared[0]) * along(y, b->shared[1]) *
                 along(z, b->shared[2]);
    double most = ((double)b->bytes + 31) / 32, choice = b->chosen_from[verb];
    if (choice > 0) all = fmin(all, choice * (1 - exp(-n * b->per_block[verb] / choice)));
    return all < most ? all : most;
}

static void set_sharing(struct traffic *t, const struct touched *sets,
                        const struct sim_trace *trace, u64 base, const struct placement *p) {
    u64 step[3] = {1, p->grid[0], (u64)p->grid[0] * p->grid[1]};
    const struct touched *own = NULL;
    for (u32 i = 0; i < trace->nblocks; i++)
        if (trace->blocks[i].linear == base) own = &sets[i];
    for (u32 axis = 0; axis < 3 && own; axis++)
        for (u32 i = 0; i < trace->nblocks; i++) {
            if (p->grid[axis] < 2 || trace->blocks[i].linear != base + step[axis]) continue;
            double *sectors = xcalloc(4ul * t->nbuffers + 4, sizeof *sectors),
                   *common = sectors + 2 * t->nbuffers + 2;
            count_sectors(t, &sets[i], own, sectors, common);
            for (u32 b = 0; b < t->nbuffers; b++) {
                double all = sectors[2 * b] + sectors[2 * b + 1],
                       same = common[2 * b] + common[2 * b + 1];
                t->buffer[b].shared[axis] = all > 0 ? same / all : 0;
            }
            free(sectors);
            break;
        }
}

/* Reads push out what the flush wrote, too: a third of what comes in, until 0.44 of L2 is written
 * back; as much as the launch writes itself has been counted. Measured on an H100: reads of 8 to
 * 512 MiB (docs/time-model.md, DRAM). */
static void set_evicted(struct traffic *t, const double moved[2], double l2, double cold) {
    double out = (moved[READ] + moved[WRITE]) / 3, most = 0.44 * l2;
    out = cold * ((out < most ? out : most) - moved[WRITE]);
    t->evicted = out > 0 && moved[READ] > 0 ? out / moved[READ] : 0;
    t->dram_bytes += out > 0 ? 32 * out : 0;
}

/* The part of `whole` sectors that L2 can hold already. What launches before moved is taken for the
 * same data, if there was as much: to move other data costs as much time as it would save. */
static double held(const struct time_options *o, double whole, double l2) {
    if (whole > l2 || whole <= 0) return 0;
    double part = o->warm_bytes / 32 / whole;
    return o->warm || part > 1 ? 1 : part;
}

static void set_dram(struct traffic *t, const struct placement *p, const struct gpu_device *d,
                     const struct time_options *o) {
    double l2 = useful_l2 * (double)d->l2_bytes / 32, wave = 0, whole = 0,
           blocks = (double)p->nblocks, resident = p->resident, moved[2] = {0};
    for (u32 i = 0; i < t->nbuffers; i++) {
        const struct buffer_traffic *b = &t->buffer[i];
        for (u32 v = 0; v < 2; v++) {
            wave += footprint(b, v, resident, p->grid);
            whole += footprint(b, v, blocks, p->grid);
            t->sample_sectors += b->per_block[v];
        }
    }
    t->wave_sectors = wave;
    /* What is written stays in L2 and reaches DRAM as its place is needed; data that is there
     * already need not come. A cold L2 is full of what was written before (the fill that flushes
     * it): whatever is written pushes as much out. */
    double warm = held(o, whole, l2), miss = 1 - warm, spill = miss + warm * 0.5 * whole / l2;
    for (u32 i = 0; i < t->nbuffers; i++) {
        struct buffer_traffic *b = &t->buffer[i];
        for (u32 v = 0; v < 2; v++) {
            double once = footprint(b, v, blocks, p->grid), touches = b->per_block[v] * blocks;
            double again = footprint(b, v, resident, p->grid) * blocks / resident;
            double sectors = wave > l2 && again > once ? again : once;
            sectors *= v == WRITE ? spill : miss;
            b->dram[v] = touches > 0 ? sectors / touches : 0;
            if (b->dram[v] > 1) b->dram[v] = 1;
            moved[v] += sectors;
            t->dram_bytes += 32 * sectors;
        }
    }
    if (warm < 1) set_evicted(t, moved, l2 / useful_l2, 1 - warm);
}

void time_traffic_open(struct traffic *t, struct sim *s, struct sim_trace *trace, u64 base,
                       const struct placement *p, const struct gpu_device *d,
                       const struct time_options *o) {
    *t = (struct traffic){0};
    list_buffers(t, &s->memory);
    struct touched *sets = xcalloc(trace->nblocks + 1, sizeof *sets);
    double *sectors = xcalloc(2ul * t->nbuffers + 2, sizeof *sectors);
    u32 ran = 0;
    for (u32 i = 0; i < trace->nblocks; i++) {
        for (u32 w = 0; w < trace->blocks[i].nwarps; w++)
            touch_warp(&sets[i], &trace->blocks[i].warps[w]);
        count_sectors(t, &sets[i], NULL, sectors, NULL);
        ran += trace->blocks[i].has_run;
    }
    for (u32 b = 0; b < t->nbuffers && ran; b++)
        for (u32 v = 0; v < 2; v++) t->buffer[b].per_block[v] = sectors[2 * b + v] / ran;
    set_sharing(t, sets, trace, base, p);
    time_scattered(t, sets, trace);
    time_pages(t, sets, trace, base, p);
    set_dram(t, p, d, o);
    for (u32 i = 0; i < trace->nblocks; i++) time_touched_free(&sets[i]);
    free(sets), free(sectors);
}

void time_traffic_close(struct traffic *t) { free(t->buffer); }
