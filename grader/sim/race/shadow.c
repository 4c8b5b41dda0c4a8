/* shadow.c — maps the shadow memory of global memory, and opens and closes it for a launch.
 *
 * Planes are mapped once for each worker and kept. Well-made kernels access nearly always whole
 * rows of a warp's width, so a row has one compact record for all of its cells until an access
 * treats them differently: then it is expanded, and each cell has its own. A row whose state is not
 * of this launch counts as empty, so rows need no clearing. */
#include "grader/sim/race/lane_order.h"
#include "grader/sim/race/tensor_map_proxy.h"
#include "grader/sim/race/race.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* Planes that could take more bytes than this, over all workers, get small pages only; and those
 * that a launch accessed stay in memory after it only up to the second limit. Where the simulator
 * has memory to spare, half of that is the limit. */
static const u64 LARGE_PAGE_BYTES = 1ull << 30, RETAINED_BYTES = 400ull << 20;

/* The planes that are mapped, with their bytes for a row of cells. */
static const struct {
    size_t field; /* offset of the pointer to element 0 */
    u32 row_bytes;
    bool is_by_epoch;
} planes[] = {
#define PLANE(name, is_by_epoch)         \
    {offsetof(struct race_shadow, name), \
     SHADOW_ROW_CELLS * sizeof *((struct race_shadow *)0)->name, is_by_epoch},
    PLANE(writer_block, false) PLANE(reader_block, false) PLANE(updater_block, false)
        PLANE(value_hash, false) PLANE(last_write_epoch, true) PLANE(last_read_epoch, true)
            PLANE(last_update_epoch, true) PLANE(release_clock, true)
#undef PLANE
                {offsetof(struct race_shadow, rows), sizeof(struct shadow_row), false},
};
enum { PLANE_COUNT = sizeof planes / sizeof *planes, BYTES_PER_CELL = 4 * 2 + 4 * 4 + 1 };

static unsigned char **plane_pointer(struct race_shadow *p, u32 plane) {
    return (unsigned char **)((char *)p + planes[plane].field);
}

/* Returns the row of an offset from SIM_BASE, where planes have cells of 1 << mapped_shift bytes.
 */
static u64 row_of(const struct race_shadow *p, u64 offset) {
    return (offset >> p->mapped_shift) / SHADOW_ROW_CELLS;
}
static u64 plane_bytes(const struct race_shadow *p, u32 plane) {
    return (row_of(p, p->covered_end) - row_of(p, p->covered_start)) * planes[plane].row_bytes;
}
/* Returns where the mapping of a plane begins. */
static unsigned char *plane_start(struct race_shadow *p, u32 plane) {
    return *plane_pointer(p, plane) + row_of(p, p->covered_start) * planes[plane].row_bytes;
}

/* Leaves a pointer to element 0, which is mapped only if the planes cover it. */
static bool map_plane(struct race_shadow *p, u32 plane) {
    unsigned char *at = mmap(NULL, plane_bytes(p, plane), PROT_READ | PROT_WRITE,
                             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (at == MAP_FAILED) return false;
    *plane_pointer(p, plane) = at - row_of(p, p->covered_start) * planes[plane].row_bytes;
    return true;
}

/* Maps zeroes. They may span gigabytes of which few pages are touched, so nothing is reserved for
 * them. */
static u8 *map_zeroes(u64 bytes) {
    void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (at == MAP_FAILED) die("out of memory");
    return at;
}

/* The planes of lane_order.c, mapped by the first launch that needs them. Their cells are read only
 * where a record of the launch is in the other planes, or as ticks, which are old ones. */
static u64 first_cell(const struct race_shadow *p) { return p->covered_start >> p->mapped_shift; }
static u64 cell_count(const struct race_shadow *p) {
    return (p->covered_end >> p->mapped_shift) + 1 - first_cell(p);
}

/* Maps a plane of `size` bytes a cell. */
static void *map_cells(const struct race_shadow *p, u64 size) {
    return map_zeroes(cell_count(p) * size) - first_cell(p) * size;
}

static void unmap_cells(const struct race_shadow *p, void *plane, u64 size) {
    if (plane) munmap((u8 *)plane + first_cell(p) * size, cell_count(p) * size);
}

void race_open_lane_planes(struct race_shadow *p) {
    if (p->cell_lanes) return;
    p->cell_lanes = map_cells(p, sizeof *p->cell_lanes);
    p->cell_releases = map_cells(p, sizeof *p->cell_releases);
}

void race_open_former_updates(struct race_shadow *p) {
    if (!p->former_updates) p->former_updates = map_cells(p, sizeof *p->former_updates);
}

static void close_cell_planes(struct race_shadow *p) {
    unmap_cells(p, p->cell_lanes, sizeof *p->cell_lanes);
    unmap_cells(p, p->cell_releases, sizeof *p->cell_releases);
    unmap_cells(p, p->former_updates, sizeof *p->former_updates);
    p->cell_lanes = NULL, p->cell_releases = NULL, p->former_updates = NULL;
}

static void unmap_planes(struct race_shadow *p) {
    close_cell_planes(p);
    for (u32 i = 0; i < PLANE_COUNT; i++)
        if (*plane_pointer(p, i)) munmap(plane_start(p, i), plane_bytes(p, i));
    *p = (struct race_shadow){
        .history = p->history, .patterns = p->patterns, .intra_warp = p->intra_warp};
}

static bool map_planes(struct race_shadow *p, const struct race_shadow *covered) {
    bool ok = true;
    *p = (struct race_shadow){.covered_start = covered->covered_start,
                              .covered_end = covered->covered_end,
                              .mapped_shift = covered->mapped_shift,
                              .history = p->history,
                              .patterns = p->patterns,
                              .intra_warp = p->intra_warp};
    for (u32 i = 0; i < PLANE_COUNT; i++) ok = ok && map_plane(p, i);
    if (!ok) unmap_planes(p);
    return ok;
}

/* Returns what planes must cover now, in cells of 1 << shift bytes. Without a limit of addresses,
 * they cover all of memory in use, in cells of a byte, so that they seldom have to be mapped again.
 */
static struct race_shadow required_cover(const struct memory *m, u32 shift) {
    return (struct race_shadow){.covered_start = memory_used_start(m),
                                .covered_end = memory_used_end(m),
                                .mapped_shift = memory_is_address_limited(m) ? shift : 0};
}

static bool is_covered(const struct race_shadow *p, const struct race_shadow *required) {
    return p->covered_end && p->covered_start <= required->covered_start &&
           p->covered_end >= required->covered_end && p->mapped_shift == required->mapped_shift;
}

static u64 first_bit_byte(const struct race_shadow *p) {
    return (p->covered_start >> p->cell_shift) / 8;
}

static u64 bit_bytes(const struct race_shadow *p) {
    return (p->covered_end >> p->cell_shift) / 8 + 1 - first_bit_byte(p);
}

u8 *race_new_cell_bits(const struct race_shadow *p) {
    return map_zeroes(bit_bytes(p)) - first_bit_byte(p);
}

static void free_cell_bits(const struct race_shadow *p, u8 **bits) {
    if (*bits) munmap(*bits + first_bit_byte(p), bit_bytes(p));
    *bits = NULL;
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
static bool grow_shadows(struct sim *s, unsigned workers, u32 shift) {
    const struct race_shadow required = required_cover(&s->memory, shift);
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
        if (is_covered(&s->race_shadows[i], &required)) continue;
        unmap_planes(&s->race_shadows[i]);
        if (!map_planes(&s->race_shadows[i], &required)) return false;
    }
    return true;
}

/* Returns a limit for all workers, or what may be spared for it if that is more. */
static u64 or_spare_bytes(const struct launch *l, u64 bytes) {
    u64 spare = l->sim->memory.spare_host_bytes / 2;
    return spare > bytes ? spare : bytes;
}

/* Returns true if the launch may touch few cells of many pages, so that large pages, faster where
 * accesses are sequential, could take the memory limit: one touched byte of each 4 KiB is enough.
 */
static bool may_waste_large_pages(const struct launch *l) {
    u64 cells = l->sim->memory.used >> l->global_shift;
    return l->watched_blocks ||
           cells * BYTES_PER_CELL * l->nworkers > or_spare_bytes(l, LARGE_PAGE_BYTES);
}

/* Sets the size of the pages that the planes get from now on. */
static void set_page_size(struct race_shadow *p, bool is_small) {
    int advice = is_small ? MADV_NOHUGEPAGE : MADV_HUGEPAGE;
    if (p->page_advice == advice) return;
    p->page_advice = advice;
    for (u32 i = 0; i < PLANE_COUNT; i++) madvise(plane_start(p, i), plane_bytes(p, i), advice);
}

bool race_open(struct launch *l) {
    if (!l->tracks_global_races) return true;
    l->race_callbacks = &race_callbacks;
    race_mark_writable_allocations(l);
    if (!grow_shadows(l->sim, l->nworkers, l->global_shift)) return false;
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
        if (l->tracks_happens_before && l->ptx_order) race_open_lane_planes(p);
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

static void discard_cells(void *plane, u64 size, u64 first, u64 end) {
    if (plane) discard_pages(plane, first * size, end * size);
}

/* Closes a worker's shadow after a launch. Planes are not cleared: their records are valid for one
 * launch or one tick only. If there are many, their pages go back to the system. */
static void close_shadow(struct race_shadow *p, u32 shift, u64 retained_bytes) {
    free(p->insn_ranges);
    p->insn_ranges = NULL;
    free_cell_bits(p, &p->block_scope_cells);
    free_cell_bits(p, &p->read_only_cells);
    free_cell_bits(p, &p->first_stored_cells);
    if (p->accessed_range.low >= p->accessed_range.high) return;
    u64 first = p->accessed_range.low >> shift, end = ((p->accessed_range.high - 1) >> shift) + 1;
    if ((end - first) * BYTES_PER_CELL <= retained_bytes) return;
    for (u32 i = 0; i < PLANE_COUNT; i++) {
        u64 cell_bytes = planes[i].row_bytes / SHADOW_ROW_CELLS;
        if (cell_bytes) discard_cells(*plane_pointer(p, i), cell_bytes, first, end);
    }
    discard_cells(p->cell_lanes, sizeof *p->cell_lanes, first, end);
    discard_cells(p->cell_releases, sizeof *p->cell_releases, first, end);
    discard_cells(p->former_updates, sizeof *p->former_updates, first, end);
}

void race_close(struct launch *l) {
    for (u32 i = 0; i < l->nworkers; i++) race_tensor_maps_free(&l->workers[i]);
    u64 retained = or_spare_bytes(l, RETAINED_BYTES * l->nworkers) / l->nworkers;
    for (u32 i = 0; l->tracks_global_races && i < l->nworkers; i++)
        if (l->workers[i].race_shadow)
            close_shadow(l->workers[i].race_shadow, l->global_shift, retained);
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
    for (u32 i = 0; i < PLANE_COUNT; i++)
        if (planes[i].is_by_epoch && *plane_pointer(p, i))
            madvise(plane_start(p, i), plane_bytes(p, i), MADV_DONTNEED);
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
