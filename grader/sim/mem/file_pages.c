/* file_pages.c — device memory whose pages are those of a memory file, so that another process, or
 * the simulated device of another process, maps them, too.
 *
 * Two ways lead there. An allocation of whole pages can map a file that is given. Or an allocation
 * is exported where it is: the pages that it touches move to a file of the device's own, at the
 * offset of their address, and stay there. Neighbours in the same pages go with it; only the
 * allocation tables decide what a device may access. */
#include "common/grow.h"
#include "grader/sim/mem/mem.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

static uint64_t round_up(uint64_t n) {
    return (n + memory_page_size() - 1) & ~(memory_page_size() - 1);
}

static bool map_file(struct memory *m, uint64_t start, uint64_t bytes, int fd, uint64_t offset) {
    return mmap(m->bytes + start, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd,
                (off_t)offset) != MAP_FAILED;
}

static void map_fresh(struct memory *m, uint64_t start, uint64_t bytes) {
    if (mmap(m->bytes + start, bytes, PROT_READ | PROT_WRITE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0) == MAP_FAILED)
        die("device memory: cannot take back shared pages");
}

/* ---- a file that is given ---- */

bool memory_map_file_pages(struct memory *m, uint64_t address, int fd, uint64_t offset) {
    const struct allocation *a = memory_find_allocation(m, address);
    if (!a || !a->is_page_aligned || !a->size || m->nmapped_ranges == MEM_MAX_MAPPED_RANGES)
        return false;
    uint64_t bytes = round_up(a->size);
    if (!map_file(m, a->start, bytes, fd, offset)) return false;
    m->mapped_ranges[m->nmapped_ranges++] = (struct memory_page_range){a->start, bytes};
    return true;
}

void memory_unmap_freed(struct memory *m, const struct allocation *a) {
    for (unsigned i = 0; i < m->nmapped_ranges; i++) {
        if (m->mapped_ranges[i].start != a->start) continue;
        map_fresh(m, a->start, m->mapped_ranges[i].bytes);
        m->mapped_ranges[i] = m->mapped_ranges[--m->nmapped_ranges];
        return;
    }
}

void memory_unmap_file_pages(struct memory *m) {
    for (unsigned i = 0; i < m->nmapped_ranges; i++)
        map_fresh(m, m->mapped_ranges[i].start, m->mapped_ranges[i].bytes);
    for (unsigned i = 0; i < m->nexported_ranges; i++)
        map_fresh(m, m->exported_ranges[i].start, m->exported_ranges[i].bytes);
    m->nmapped_ranges = 0;
    memory_close_export(m);
}

/* ---- export ---- */

void memory_close_export(struct memory *m) {
    if (m->has_export_file) close(m->export_file);
    free(m->exported_ranges);
    m->exported_ranges = NULL;
    m->nexported_ranges = m->exported_capacity = 0;
    m->has_export_file = false;
}

static bool open_export_file(struct memory *m) {
    if (m->has_export_file) return true;
    int fd = memfd_create("device memory", MFD_CLOEXEC);
    if (fd < 0) return false;
    if (ftruncate(fd, (off_t)memory_end(m)) < 0) return close(fd), false;
    m->export_file = fd;
    return m->has_export_file = true;
}

static bool write_file(int fd, const unsigned char *data, uint64_t bytes, uint64_t offset) {
    for (ssize_t n; bytes; data += n, bytes -= (uint64_t)n, offset += (uint64_t)n)
        if ((n = pwrite(fd, data, bytes, (off_t)offset)) <= 0) return false;
    return true;
}

/* Moves pages that are not exported yet. */
static bool export_range(struct memory *m, uint64_t start, uint64_t end) {
    if (!write_file(m->export_file, m->bytes + start, end - start, start) ||
        !map_file(m, start, end - start, m->export_file, start))
        return false;
    GROW(m->exported_ranges, m->nexported_ranges + 1, m->exported_capacity, 8);
    m->exported_ranges[m->nexported_ranges++] = (struct memory_page_range){start, end - start};
    return true;
}

/* Returns where the run of pages from `at` on ends, at most `end`, that are all exported or all
 * not. */
static uint64_t find_run_end(const struct memory *m, uint64_t at, uint64_t end, bool *is_exported) {
    *is_exported = false;
    for (unsigned i = 0; i < m->nexported_ranges; i++) {
        const struct memory_page_range *r = &m->exported_ranges[i];
        if (at - r->start < r->bytes) {
            *is_exported = true;
            return r->start + r->bytes < end ? r->start + r->bytes : end;
        }
        if (r->start > at && r->start < end) end = r->start;
    }
    return end;
}

bool memory_export_pages(struct memory *m, uint64_t address, int *fd, uint64_t *offset) {
    const struct allocation *a = memory_find_allocation(m, address);
    if (!a || a->region != MEM_DEVICE || !a->size || !open_export_file(m)) return false;
    uint64_t first = a->start & ~(memory_page_size() - 1), last = round_up(a->start + a->size);
    for (uint64_t at = first, end; at < last; at = end) {
        bool is_exported;
        end = find_run_end(m, at, last, &is_exported);
        if (!is_exported && !export_range(m, at, end)) return false;
    }
    *fd = m->export_file, *offset = first;
    return true;
}
