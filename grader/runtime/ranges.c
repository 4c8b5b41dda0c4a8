/* ranges.c — records the process's device memory and mappings, so that calls can be checked before
 * they are sent. It doesn't know memory that another copy of this runtime allocated; then the
 * runtime queries the server. */
#include "grader/runtime/runtime.h"

#include <stdlib.h>
#include <string.h>

static struct wb_range *ranges; /* sorted, they do not overlap */
static size_t nranges, capacity;

/* Returns the index of the first range that begins after an address. */
static size_t upper_bound(uint64_t address) {
    size_t low = 0, high = nranges;
    while (low < high) {
        size_t mid = (low + high) / 2;
        if (ranges[mid].start <= address) low = mid + 1;
        else high = mid;
    }
    return low;
}

bool wb_range_add(uint64_t start, uint64_t bytes, enum wb_memory_kind kind, unsigned flags) {
    wb_lock();
    if (nranges == capacity) {
        size_t new_capacity = capacity ? 2 * capacity : 64;
        void *p = realloc(ranges, new_capacity * sizeof *ranges);
        if (!p) return wb_unlock(), false;
        ranges = p;
        capacity = new_capacity;
    }
    size_t at = upper_bound(start);
    memmove(ranges + at + 1, ranges + at, (nranges - at) * sizeof *ranges);
    ranges[at] = (struct wb_range){
        .start = start, .bytes = bytes, .kind = kind, .flags = flags, .advice = {0, -2, -2, -2}};
    ranges[at].device = wb_current_device();
    nranges++;
    wb_unlock();
    return true;
}

bool wb_range_find(const void *p, struct wb_range *out) {
    uint64_t address = (uint64_t)p, start, bytes;
    if (wb_find_host_buffer(address, &start, &bytes)) {
        *out = (struct wb_range){
            .start = start, .bytes = bytes, .kind = WB_MEMORY_PINNED, .advice = {0, -2, -2, -2}};
        return true;
    }
    wb_lock();
    size_t at = upper_bound(address);
    bool found = at && (address - ranges[at - 1].start < ranges[at - 1].bytes ||
                        address == ranges[at - 1].start);
    if (found) *out = ranges[at - 1];
    wb_unlock();
    return found;
}

/* The last freed ranges, for messages. */
enum { MAX_FREED = 256 };
static struct wb_range freed[MAX_FREED];
static unsigned nfreed;

bool wb_range_find_freed(const void *p, struct wb_range *out) {
    bool found = false;
    wb_lock();
    for (unsigned i = 0; i < MAX_FREED && !found; i++) {
        *out = freed[(nfreed - 1 - i) % MAX_FREED];
        found = out->bytes && (uint64_t)p - out->start < out->bytes;
    }
    wb_unlock();
    return found;
}

bool wb_range_remove(uint64_t start) {
    wb_lock();
    size_t at = upper_bound(start);
    bool found = at && ranges[at - 1].start == start;
    if (found) {
        wb_pool_account_free(ranges[at - 1].pool, ranges[at - 1].bytes);
        freed[nfreed++ % MAX_FREED] = ranges[at - 1];
        memmove(ranges + at - 1, ranges + at, (nranges - at) * sizeof *ranges);
        nranges--;
    }
    wb_unlock();
    return found;
}

void wb_range_set_pool(const void *start, struct CUmemPoolHandle_st *pool) {
    size_t at = upper_bound((uint64_t)start);
    if (at && ranges[at - 1].start == (uint64_t)start) ranges[at - 1].pool = pool;
}

void wb_range_set_device(uint64_t start, uint64_t device) {
    wb_lock();
    size_t at = upper_bound(start);
    if (at && ranges[at - 1].start == start) ranges[at - 1].device_start = device;
    wb_unlock();
}

void wb_range_set_advice(const void *p, enum wb_advice advice, int value) {
    wb_lock();
    size_t at = upper_bound((uint64_t)p);
    if (at) ranges[at - 1].advice[advice] = value;
    wb_unlock();
}

bool wb_range_overlaps(uint64_t start, uint64_t bytes) {
    wb_lock();
    size_t at = upper_bound(start + bytes - 1);
    bool overlaps = at && ranges[at - 1].start + ranges[at - 1].bytes > start;
    wb_unlock();
    return overlaps;
}

bool wb_range_find_kind(enum wb_memory_kind kind, struct wb_range *out) {
    wb_lock();
    size_t i = 0;
    while (i < nranges && ranges[i].kind != kind) i++;
    bool found = i < nranges;
    if (found) *out = ranges[i];
    wb_unlock();
    return found;
}

void wb_range_clear(void) {
    wb_lock();
    size_t n = 0;
    for (size_t i = 0; i < nranges; i++)
        if (ranges[i].flags & WB_RANGE_VARIABLE || ranges[i].device != wb_current_device())
            ranges[n++] = ranges[i];
        else wb_pool_account_free(ranges[i].pool, ranges[i].bytes);
    nranges = n;
    wb_unlock();
}

bool wb_range_contains(const void *p, size_t pitch, size_t width, size_t rows) {
    struct wb_range r;
    size_t stride = rows > 1 ? pitch : 0, bytes;
    if (rows > 1 && pitch < width) return false;
    if (__builtin_mul_overflow(stride, rows - 1, &bytes) ||
        __builtin_add_overflow(bytes, width, &bytes))
        return false;
    return wb_range_find(p, &r) && bytes <= r.bytes - ((uint64_t)p - r.start);
}

static bool has_memory_kind(const void *p, enum wb_memory_kind kind) {
    struct wb_range r;
    return (nranges || wb_has_host_buffers()) && wb_range_find(p, &r) && r.kind == kind;
}

bool wb_is_managed(const void *p) { return has_memory_kind(p, WB_MEMORY_MANAGED); }
bool wb_is_pinned(const void *p) { return has_memory_kind(p, WB_MEMORY_PINNED); }
