/* planes.c — the notes of global memory: mapping them, opening and closing them for a launch.
 *
 * Planes are mapped once for each worker and kept. Nearly all that well-made kernels touch are
 * whole rows of a warp's width, so that a row has one note for all of its granules, until an access
 * differs among them: then it is opened, and each granule has its own. A row that the launch has
 * not touched says so by its epoch, and need not be cleared. */
#include "grader/sim/race/maps.h"
#include "grader/sim/race/race.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { KEPT = 16 << 20 /* granules whose notes stay in memory after a launch */ };

/* A plane of `bytes` for each byte that an allocation reaches. */
static void *plane(const struct race_plane *p, size_t bytes) {
    void *at = mmap(NULL, p->reach * bytes, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (at == MAP_FAILED) return NULL;
    madvise(at, p->reach * bytes, MADV_HUGEPAGE); /* they are walked through, not sampled */
    return at;
}

enum { BY_BLOCK = 4, BY_TICK = 4, ROW_BYTES = 1 /* of a row, for each of its granules */ };
_Static_assert(sizeof(struct race_row) <= ROW_BYTES * RACE_ROW, "a row's note fits");

static void list(struct race_plane *p, void **by_block[BY_BLOCK], void **by_tick[BY_TICK]) {
    void **blocks[] = {(void **)&p->write, (void **)&p->read, (void **)&p->update,
                       (void **)&p->value};
    void **ticks[] = {(void **)&p->wrote, (void **)&p->was_read, (void **)&p->updated,
                      (void **)&p->released};
    memcpy(by_block, blocks, sizeof blocks);
    memcpy(by_tick, ticks, sizeof ticks);
}

static void unmap_planes(struct race_plane *p) {
    void **by_block[BY_BLOCK], **by_tick[BY_TICK];
    list(p, by_block, by_tick);
    for (u32 i = 0; i < BY_BLOCK; i++)
        if (*by_block[i]) munmap(*by_block[i], p->reach * sizeof(u16));
    for (u32 i = 0; i < BY_TICK; i++)
        if (*by_tick[i]) munmap(*by_tick[i], p->reach * sizeof(u32));
    if (p->rows) munmap(p->rows, p->reach * ROW_BYTES);
    *p = (struct race_plane){.past = p->past, .patterns = p->patterns, .near = p->near};
}

static bool map_planes(struct race_plane *p, u64 reach) {
    void **by_block[BY_BLOCK], **by_tick[BY_TICK];
    bool ok = true;
    *p = (struct race_plane){
        .reach = reach, .past = p->past, .patterns = p->patterns, .near = p->near};
    list(p, by_block, by_tick);
    for (u32 i = 0; i < BY_BLOCK; i++) ok &= (*by_block[i] = plane(p, sizeof(u16))) != NULL;
    for (u32 i = 0; i < BY_TICK; i++) ok &= (*by_tick[i] = plane(p, sizeof(u32))) != NULL;
    ok &= (p->rows = plane(p, ROW_BYTES)) != NULL;
    if (!ok) unmap_planes(p);
    return ok;
}

void race_free(struct sim *s) {
    for (unsigned i = 0; i < s->nrace_shadows; i++) {
        unmap_planes(&s->race_shadows[i]);
        free(s->race_shadows[i].past);
        free(s->race_shadows[i].patterns);
        free(s->race_shadows[i].near);
    }
    free(s->race_shadows);
}

/* Planes for so many workers, as far as memory reaches now. Larger ones begin anew: between
 * launches nothing is noted that still counts. */
static bool grow(struct sim *s, unsigned workers) {
    u64 reach = memory_used_span(&s->memory);
    if (workers > s->nrace_shadows)
        s->race_shadows = xrealloc(s->race_shadows, workers * sizeof *s->race_shadows);
    for (; s->nrace_shadows < workers; s->nrace_shadows++)
        s->race_shadows[s->nrace_shadows] = (struct race_plane){.tick = 0};
    for (unsigned i = 0; i < workers; i++) {
        if (!s->race_shadows[i].past) s->race_shadows[i].past = race_past_new();
        if (!s->race_shadows[i].patterns)
            s->race_shadows[i].patterns =
                xcalloc(RACE_PATTERNS, sizeof *s->race_shadows[i].patterns);
        if (!s->race_shadows[i].near)
            s->race_shadows[i].near = xcalloc(32, sizeof *s->race_shadows[i].near);
        if (s->race_shadows[i].reach >= reach) continue;
        unmap_planes(&s->race_shadows[i]);
        if (!map_planes(&s->race_shadows[i], reach)) return false;
    }
    return true;
}

bool race_open(struct launch *l) {
    if (!l->tracks_global_races) return true;
    l->race_callbacks = &race_hooks;
    race_watch(l);
    if (!grow(l->sim, l->nworkers)) return false;
    for (u32 i = 0; i < l->nworkers; i++) {
        struct race_plane *p = l->workers[i].race_shadow = &l->sim->race_shadows[i];
        l->workers[i].launch_clock = p->tick;
        p->shift = l->global_shift;
        p->raced = p->npast = p->npatterns = p->near_patterns = p->near_looks = 0;
        for (u32 w = 0; w < 32; w++) race_near_forget(p, w);
        p->epoch += ROW_STATES;
        p->reads = false;
        p->waiting.read = NULL;
        p->updates = l->code->updates_global ||
                     l->tracks_happens_before; /* what hands something over is noted so, too */
        p->range = (struct race_range){UINT64_MAX, 0};
        p->touched = xcalloc(l->module->nstats, sizeof *p->touched);
        for (u32 s = 0; s < l->module->nstats; s++) p->touched[s].low = UINT64_MAX;
    }
    return true;
}

static void give_back(void *base, u64 low, u64 high) {
    u64 page = memory_page();
    low = low / page * page;
    madvise((u8 *)base + low, (high + page - 1) / page * page - low, MADV_DONTNEED);
}

/* Notes are not cleared: those by block count for one epoch, those by tick for one tick. Where
 * there are many their pages are given back. */
static void close_plane(struct race_plane *p, u32 shift) {
    void **by_block[BY_BLOCK], **by_tick[BY_TICK];
    free(p->touched);
    p->touched = NULL;
    if (p->range.low >= p->range.high) return;
    u64 first = p->range.low >> shift, end = ((p->range.high - 1) >> shift) + 1;
    if (end - first <= KEPT) return;
    list(p, by_block, by_tick);
    for (u32 i = 0; i < BY_BLOCK; i++)
        give_back(*by_block[i], first * sizeof(u16), end * sizeof(u16));
    for (u32 i = 0; i < BY_TICK; i++)
        give_back(*by_tick[i], first * sizeof(u32), end * sizeof(u32));
}

void race_close(struct launch *l) {
    for (u32 i = 0; i < l->nworkers; i++) race_maps_free(&l->workers[i]);
    for (u32 i = 0; l->tracks_global_races && i < l->nworkers; i++)
        if (l->workers[i].race_shadow) close_plane(l->workers[i].race_shadow, l->global_shift);
}

/* Of rows that were touched: writing to others would make memory of them, gigabytes where buffers
 * lie far apart. */
static void forget_rows(struct race_plane *p) {
    if (p->range.low >= p->range.high) return;
    u64 first = (p->range.low >> p->shift) / RACE_ROW,
        last = ((p->range.high - 1) >> p->shift) / RACE_ROW;
    for (u64 row = first; row <= last; row++)
        if (race_row_state(p, row) != ROW_UNTOUCHED) p->rows[row].wrote = p->rows[row].was_read = 0;
}

/* Ticks begin anew: what was noted by tick is forgotten. */
void race_forget_ticks(struct race_plane *p) {
    void **by_block[BY_BLOCK], **by_tick[BY_TICK];
    list(p, by_block, by_tick);
    for (u32 i = 0; i < BY_TICK; i++) madvise(*by_tick[i], p->reach * sizeof(u32), MADV_DONTNEED);
    forget_rows(p);
    p->tick = 1;
}

/* A row's one note becomes one for each granule. */
void race_open_row(struct race_plane *p, u64 row) {
    struct race_row *r = &p->rows[row];
    u64 first = row * RACE_ROW;
    bool flat = r->state == p->epoch + ROW_FLAT;
    u16 write = flat ? r->write : 0, read = flat ? r->read : 0;
    for (u32 i = 0; i < RACE_ROW; i++) p->write[first + i] = write, p->read[first + i] = read;
    if (p->updates) memset(p->update + first, 0, RACE_ROW * sizeof *p->update);
    for (u32 i = 0; flat && i < RACE_ROW; i++)
        p->wrote[first + i] = r->wrote, p->was_read[first + i] = r->was_read;
    r->state = p->epoch + ROW_OPEN;
}
