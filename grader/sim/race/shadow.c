/* shadow.c — maps the shadow memory of global memory, and opens and closes it for a launch.
 *
 * Planes are mapped once for each worker and kept. Well-made kernels access nearly always whole
 * rows of a warp's width, so a row has one compact record for all of its cells until an access
 * treats them differently: then it is expanded, and each cell has its own. A row whose state is not
 * of this launch counts as empty, so rows need no clearing. */
#include "grader/sim/race/tensor_map_proxy.h"
#include "grader/sim/race/race.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { MAX_RETAINED_CELLS = 16 << 20 }; /* cells whose pages stay in memory after a launch */
/* Planes that could take more bytes than this, over all workers, get small pages only. */
#define MAX_LARGE_PAGE_BYTES (1ull << 30)

/* Maps a plane of `bytes` for each byte of covered memory; NULL if that fails. */
static void *map_plane(const struct race_shadow *p, size_t bytes) {
    void *at = mmap(NULL, p->covered_bytes * bytes, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return at == MAP_FAILED ? NULL : at;
}

enum {
    BLOCK_PLANE_COUNT = 4,
    EPOCH_PLANE_COUNT = 4,
    ROW_BYTES_PER_CELL = 1, /* of struct shadow_row */
    BYTES_PER_CELL = BLOCK_PLANE_COUNT * 2 + EPOCH_PLANE_COUNT * 4 + ROW_BYTES_PER_CELL
};
_Static_assert(sizeof(struct shadow_row) <= ROW_BYTES_PER_CELL * SHADOW_ROW_CELLS,
               "ROW_BYTES_PER_CELL is too small");

static void list_planes(struct race_shadow *p, void **block_planes[BLOCK_PLANE_COUNT],
                        void **epoch_planes[EPOCH_PLANE_COUNT]) {
    void **block_list[] = {(void **)&p->writer_block, (void **)&p->reader_block,
                           (void **)&p->updater_block, (void **)&p->value_hash};
    void **epoch_list[] = {(void **)&p->last_write_epoch, (void **)&p->last_read_epoch,
                           (void **)&p->last_update_epoch, (void **)&p->release_clock};
    memcpy(block_planes, block_list, sizeof block_list);
    memcpy(epoch_planes, epoch_list, sizeof epoch_list);
}

static void unmap_planes(struct race_shadow *p) {
    void **block_planes[BLOCK_PLANE_COUNT], **epoch_planes[EPOCH_PLANE_COUNT];
    list_planes(p, block_planes, epoch_planes);
    for (u32 i = 0; i < BLOCK_PLANE_COUNT; i++)
        if (*block_planes[i]) munmap(*block_planes[i], p->covered_bytes * sizeof(u16));
    for (u32 i = 0; i < EPOCH_PLANE_COUNT; i++)
        if (*epoch_planes[i]) munmap(*epoch_planes[i], p->covered_bytes * sizeof(u32));
    if (p->rows) munmap(p->rows, p->covered_bytes * ROW_BYTES_PER_CELL);
    *p = (struct race_shadow){
        .history = p->history, .patterns = p->patterns, .intra_warp = p->intra_warp};
}

static bool map_planes(struct race_shadow *p, u64 covered_bytes) {
    void **block_planes[BLOCK_PLANE_COUNT], **epoch_planes[EPOCH_PLANE_COUNT];
    bool ok = true;
    *p = (struct race_shadow){.covered_bytes = covered_bytes,
                              .history = p->history,
                              .patterns = p->patterns,
                              .intra_warp = p->intra_warp};
    list_planes(p, block_planes, epoch_planes);
    for (u32 i = 0; i < BLOCK_PLANE_COUNT; i++)
        ok &= (*block_planes[i] = map_plane(p, sizeof(u16))) != NULL;
    for (u32 i = 0; i < EPOCH_PLANE_COUNT; i++)
        ok &= (*epoch_planes[i] = map_plane(p, sizeof(u32))) != NULL;
    ok &= (p->rows = map_plane(p, ROW_BYTES_PER_CELL)) != NULL;
    if (!ok) unmap_planes(p);
    return ok;
}

void race_free(struct sim *s) {
    for (unsigned i = 0; i < s->nrace_shadows; i++) {
        unmap_planes(&s->race_shadows[i]);
        free(s->race_shadows[i].history);
        free(s->race_shadows[i].patterns);
        free(s->race_shadows[i].intra_warp);
    }
    free(s->race_shadows);
}

/* Maps shadows for so many workers that cover all memory in use; false if that fails. Enlarging one
 * discards its contents: between launches no record is needed. */
static bool grow_shadows(struct sim *s, unsigned workers) {
    u64 covered_bytes = memory_used_span(&s->memory);
    if (workers > s->nrace_shadows)
        s->race_shadows = xrealloc(s->race_shadows, workers * sizeof *s->race_shadows);
    for (; s->nrace_shadows < workers; s->nrace_shadows++)
        s->race_shadows[s->nrace_shadows] = (struct race_shadow){.logical_clock = 0};
    for (unsigned i = 0; i < workers; i++) {
        if (!s->race_shadows[i].history) s->race_shadows[i].history = race_history_new();
        if (!s->race_shadows[i].patterns)
            s->race_shadows[i].patterns =
                xcalloc(RACE_PATTERN_CACHE_SIZE, sizeof *s->race_shadows[i].patterns);
        if (!s->race_shadows[i].intra_warp)
            s->race_shadows[i].intra_warp = xcalloc(32, sizeof *s->race_shadows[i].intra_warp);
        if (s->race_shadows[i].covered_bytes >= covered_bytes) continue;
        unmap_planes(&s->race_shadows[i]);
        if (!map_planes(&s->race_shadows[i], covered_bytes)) return false;
    }
    return true;
}

/* Returns true if the launch may touch few cells of many pages, so that large pages, faster where
 * accesses are sequential, could take the memory limit: one touched byte of each 4 KiB is enough.
 */
static bool may_waste_large_pages(const struct launch *l) {
    u64 cells = l->sim->memory.used >> l->global_shift;
    return l->watched_blocks || cells * BYTES_PER_CELL * l->nworkers > MAX_LARGE_PAGE_BYTES;
}

/* Sets the size of the pages that the planes get from now on. */
static void set_page_size(struct race_shadow *p, bool is_small) {
    void **block_planes[BLOCK_PLANE_COUNT], **epoch_planes[EPOCH_PLANE_COUNT];
    int advice = is_small ? MADV_NOHUGEPAGE : MADV_HUGEPAGE;
    if (p->page_advice == advice) return;
    p->page_advice = advice;
    list_planes(p, block_planes, epoch_planes);
    for (u32 i = 0; i < BLOCK_PLANE_COUNT; i++)
        madvise(*block_planes[i], p->covered_bytes * sizeof(u16), advice);
    for (u32 i = 0; i < EPOCH_PLANE_COUNT; i++)
        madvise(*epoch_planes[i], p->covered_bytes * sizeof(u32), advice);
    madvise(p->rows, p->covered_bytes * ROW_BYTES_PER_CELL, advice);
}

bool race_open(struct launch *l) {
    if (!l->tracks_global_races) return true;
    l->race_callbacks = &race_callbacks;
    race_mark_writable_allocations(l);
    if (!grow_shadows(l->sim, l->nworkers)) return false;
    for (u32 i = 0; i < l->nworkers; i++) {
        struct race_shadow *p = l->workers[i].race_shadow = &l->sim->race_shadows[i];
        l->workers[i].launch_clock = p->logical_clock;
        p->cell_shift = l->global_shift;
        set_page_size(p, may_waste_large_pages(l));
        p->has_block_race = p->nrecords = p->npatterns = p->nstride_patterns =
            p->intra_warp_checks = 0;
        for (u32 w = 0; w < 32; w++) race_intra_warp_reset(p, w);
        p->row_state_base += ROW_STATE_COUNT;
        p->has_reads = false;
        p->deferred.read_epochs = NULL;
        p->has_updates = l->code->updates_global ||
                         l->tracks_happens_before; /* It records all atomics as updates. */
        p->accessed_range = (struct offset_range){UINT64_MAX, 0};
        p->insn_ranges = xcalloc(l->module->nstats, sizeof *p->insn_ranges);
        for (u32 s = 0; s < l->module->nstats; s++) p->insn_ranges[s].low = UINT64_MAX;
    }
    return true;
}

static void discard_pages(void *base, u64 low, u64 high) {
    u64 page = memory_page_size();
    low = low / page * page;
    madvise((u8 *)base + low, (high + page - 1) / page * page - low, MADV_DONTNEED);
}

/* Closes a worker's shadow after a launch. Planes are not cleared: their records are valid for one
 * launch or one tick only. If there are many, their pages go back to the system. */
static void close_shadow(struct race_shadow *p, u32 shift) {
    void **block_planes[BLOCK_PLANE_COUNT], **epoch_planes[EPOCH_PLANE_COUNT];
    free(p->insn_ranges);
    p->insn_ranges = NULL;
    free(p->block_scope_cells);
    p->block_scope_cells = NULL;
    free(p->read_only_cells);
    p->read_only_cells = NULL;
    if (p->accessed_range.low >= p->accessed_range.high) return;
    u64 first = p->accessed_range.low >> shift, end = ((p->accessed_range.high - 1) >> shift) + 1;
    if (end - first <= MAX_RETAINED_CELLS) return;
    list_planes(p, block_planes, epoch_planes);
    for (u32 i = 0; i < BLOCK_PLANE_COUNT; i++)
        discard_pages(*block_planes[i], first * sizeof(u16), end * sizeof(u16));
    for (u32 i = 0; i < EPOCH_PLANE_COUNT; i++)
        discard_pages(*epoch_planes[i], first * sizeof(u32), end * sizeof(u32));
}

void race_close(struct launch *l) {
    for (u32 i = 0; i < l->nworkers; i++) race_tensor_maps_free(&l->workers[i]);
    for (u32 i = 0; l->tracks_global_races && i < l->nworkers; i++)
        if (l->workers[i].race_shadow) close_shadow(l->workers[i].race_shadow, l->global_shift);
}

/* Clears the epochs of rows that were accessed. Writing to the others would allocate their pages,
 * gigabytes where buffers lie far apart. */
static void clear_row_epochs(struct race_shadow *p) {
    if (p->accessed_range.low >= p->accessed_range.high) return;
    u64 first = (p->accessed_range.low >> p->cell_shift) / SHADOW_ROW_CELLS,
        last = ((p->accessed_range.high - 1) >> p->cell_shift) / SHADOW_ROW_CELLS;
    for (u64 row = first; row <= last; row++)
        if (shadow_row_state(p, row) != ROW_EMPTY)
            p->rows[row].last_write_epoch = p->rows[row].last_read_epoch = 0;
}

/* Restarts the ticks at 1 and clears all epochs. */
void race_reset_clock(struct race_shadow *p) {
    void **block_planes[BLOCK_PLANE_COUNT], **epoch_planes[EPOCH_PLANE_COUNT];
    list_planes(p, block_planes, epoch_planes);
    for (u32 i = 0; i < EPOCH_PLANE_COUNT; i++)
        madvise(*epoch_planes[i], p->covered_bytes * sizeof(u32), MADV_DONTNEED);
    clear_row_epochs(p);
    p->logical_clock = 1;
}

/* Copies a row's compact record to each of its cells. */
void race_expand_row(struct race_shadow *p, u64 row) {
    struct shadow_row *r = &p->rows[row];
    u64 first = row * SHADOW_ROW_CELLS;
    bool was_compact = r->state == p->row_state_base + ROW_COMPACT;
    u16 write = was_compact ? r->writer_block : 0, read = was_compact ? r->reader_block : 0;
    for (u32 i = 0; i < SHADOW_ROW_CELLS; i++)
        p->writer_block[first + i] = write, p->reader_block[first + i] = read;
    if (p->has_updates)
        memset(p->updater_block + first, 0, SHADOW_ROW_CELLS * sizeof *p->updater_block);
    for (u32 i = 0; was_compact && i < SHADOW_ROW_CELLS; i++)
        p->last_write_epoch[first + i] = r->last_write_epoch,
                                    p->last_read_epoch[first + i] = r->last_read_epoch;
    r->state = p->row_state_base + ROW_EXPANDED;
}
