/* ranges.c — what memory this process was given, and what it has mapped for the device: with that,
 * a call is known to be right before it is sent. Memory that another copy of this runtime was given
 * is not known here; then the server is asked. */
#include "grader/runtime/runtime.h"

#include <stdlib.h>
#include <string.h>

static struct wb_range *ranges; /* sorted, they do not overlap */
static size_t nranges, capacity;

/* Index of the first range that begins behind an address. */
static size_t behind(uint64_t address) {
    size_t low = 0, high = nranges;
    while (low < high) {
        size_t mid = (low + high) / 2;
        if (ranges[mid].start <= address) low = mid + 1;
        else high = mid;
    }
    return low;
}

bool wb_range_add(uint64_t start, uint64_t bytes, enum wb_memory kind, unsigned flags) {
    wb_lock();
    if (nranges == capacity) {
        size_t more = capacity ? 2 * capacity : 64;
        void *p = realloc(ranges, more * sizeof *ranges);
        if (!p) return wb_unlock(), false;
        ranges = p;
        capacity = more;
    }
    size_t at = behind(start);
    memmove(ranges + at + 1, ranges + at, (nranges - at) * sizeof *ranges);
    ranges[at] = (struct wb_range){
        .start = start, .bytes = bytes, .kind = kind, .flags = flags, .advice = {0, -2, -2, -2}};
    nranges++;
    wb_unlock();
    return true;
}

bool wb_range_find(const void *p, struct wb_range *out) {
    uint64_t address = (uint64_t)p, start, bytes;
    if (wb_lent(address, &start, &bytes)) {
        *out = (struct wb_range){
            .start = start, .bytes = bytes, .kind = WB_MEMORY_PINNED, .advice = {0, -2, -2, -2}};
        return true;
    }
    wb_lock();
    size_t at = behind(address);
    bool found = at && (address - ranges[at - 1].start < ranges[at - 1].bytes ||
                        address == ranges[at - 1].start);
    if (found) *out = ranges[at - 1];
    wb_unlock();
    return found;
}

bool wb_range_remove(uint64_t start) {
    wb_lock();
    size_t at = behind(start);
    bool found = at && ranges[at - 1].start == start;
    if (found) {
        wb_pool_freed(ranges[at - 1].pool, ranges[at - 1].bytes);
        memmove(ranges + at - 1, ranges + at, (nranges - at) * sizeof *ranges);
        nranges--;
    }
    wb_unlock();
    return found;
}

void wb_range_owner(const void *start, struct CUmemPoolHandle_st *pool) {
    size_t at = behind((uint64_t)start);
    if (at && ranges[at - 1].start == (uint64_t)start) ranges[at - 1].pool = pool;
}

void wb_range_device(uint64_t start, uint64_t device) {
    wb_lock();
    size_t at = behind(start);
    if (at && ranges[at - 1].start == start) ranges[at - 1].device = device;
    wb_unlock();
}

void wb_range_advise(const void *p, enum wb_advice which, int value) {
    wb_lock();
    size_t at = behind((uint64_t)p);
    if (at) ranges[at - 1].advice[which] = value;
    wb_unlock();
}

bool wb_range_any(uint64_t start, uint64_t bytes) {
    wb_lock();
    size_t at = behind(start + bytes - 1);
    bool any = at && ranges[at - 1].start + ranges[at - 1].bytes > start;
    wb_unlock();
    return any;
}

bool wb_range_next(enum wb_memory kind, struct wb_range *out) {
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
    size_t kept = 0;
    for (size_t i = 0; i < nranges; i++)
        if (ranges[i].flags & WB_VARIABLE) ranges[kept++] = ranges[i];
        else wb_pool_freed(ranges[i].pool, ranges[i].bytes);
    nranges = kept;
    wb_unlock();
}

bool wb_range_holds(const void *p, size_t pitch, size_t width, size_t rows) {
    struct wb_range r;
    size_t stride = rows > 1 ? pitch : 0, bytes;
    if (rows > 1 && pitch < width) return false;
    if (__builtin_mul_overflow(stride, rows - 1, &bytes) ||
        __builtin_add_overflow(bytes, width, &bytes))
        return false;
    return wb_range_find(p, &r) && bytes <= r.bytes - ((uint64_t)p - r.start);
}

static bool is(const void *p, enum wb_memory kind) {
    struct wb_range r;
    return (nranges || wb_lends()) && wb_range_find(p, &r) && r.kind == kind;
}

bool wb_is_managed(const void *p) { return is(p, WB_MEMORY_MANAGED); }
bool wb_is_pinned(const void *p) { return is(p, WB_MEMORY_PINNED); }
