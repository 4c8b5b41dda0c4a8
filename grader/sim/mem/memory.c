/* memory.c — device memory; see mem.h. The same calls give the same addresses.
 *
 * Placement: an allocation goes after all earlier ones, while the quarantine of freed ranges is
 * small. Then it goes into the next gap, searching on from the last gap found: that place has been
 * free longest. So the cost of a call does not grow with the number of calls before it. */
#include "grader/sim/mem/mem.h"
#include "common/grow.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

static void *reserve(uint64_t bytes) {
    void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
                   -1, 0);
    return p == MAP_FAILED ? NULL : p;
}

/* Returns the page size of this machine: aarch64 kernels have pages of 4, 16 or 64 KiB. Mappings
 * and releases are whole pages. */
uint64_t memory_page_size(void) {
    uint64_t bytes = (uint64_t)sysconf(_SC_PAGESIZE);
    return bytes > MEM_MIN_PAGE ? bytes : MEM_MIN_PAGE;
}

static const uint64_t DEVICE_OFFSET = SIM_DEVICE_BASE - SIM_BASE;

/* Returns this process's limit of address space (`ulimit -v`); 0 = none. */
static uint64_t address_limit(void) {
    struct rlimit l;
    bool is_limited = getrlimit(RLIMIT_AS, &l) == 0 && l.rlim_cur != RLIM_INFINITY;
    return is_limited ? l.rlim_cur : 0;
}

/* Under a limit of address space, device memory gets a sixth of it, and its shadow as much. The
 * rest is for the shadow of races (race/shadow.c), traces and the program. Nothing is reserved for
 * memory that host and device share, and little for what the device takes for itself. Addresses of
 * device memory are the same with and without a limit. */
enum { LIMITED_SHARE = 6, LIMITED_INTERNAL_BYTES = 32 << 20 };
#define LIMITED_MIN_BYTES  (384ull << 20)
#define LIMITED_UNIT_BYTES (64ull << 20)

static void set_bounds(uint64_t memory_limit, uint64_t bounds[MEM_REGION_COUNT + 1]) {
    uint64_t address_bytes = address_limit();
    uint64_t end = DEVICE_OFFSET + memory_limit * 2 + (1ull << 30),
             share = address_bytes / LIMITED_SHARE & ~(LIMITED_UNIT_BYTES - 1);
    if (end > SIM_SPAN) end = SIM_SPAN;
    bounds[MEM_HOST_SHARED] = memory_page_size(), bounds[MEM_INTERNAL] = SIM_HOST_SHARED_BYTES;
    bounds[MEM_DEVICE] = DEVICE_OFFSET + MEM_ALIGN, bounds[MEM_REGION_COUNT] = end;
    if (!address_bytes || share >= end) return;
    bounds[MEM_INTERNAL] = bounds[MEM_HOST_SHARED] = DEVICE_OFFSET - LIMITED_INTERNAL_BYTES;
    if (bounds[MEM_INTERNAL] + share < end) bounds[MEM_REGION_COUNT] = bounds[MEM_INTERNAL] + share;
}

uint64_t memory_end(const struct memory *m) { return m->regions[MEM_DEVICE].high; }

uint64_t memory_start(const struct memory *m) {
    return memory_is_address_limited(m) ? m->regions[MEM_INTERNAL].low : 0;
}

bool memory_is_address_limited(const struct memory *m) {
    return m->regions[MEM_HOST_SHARED].low == m->regions[MEM_HOST_SHARED].high;
}

static void set_regions(struct memory *m, const uint64_t bounds[MEM_REGION_COUNT + 1]) {
    for (unsigned i = 0; i < MEM_REGION_COUNT; i++) {
        m->regions[i].low = m->regions[i].ever_used_end = m->regions[i].search_start = bounds[i];
        m->regions[i].high = bounds[i + 1];
        m->regions[i].quarantine_bytes = m->regions[i].quarantine_count = 0;
    }
}

static void reset_regions(struct memory *m) {
    uint64_t bounds[MEM_REGION_COUNT + 1];
    for (unsigned i = 0; i < MEM_REGION_COUNT; i++) bounds[i] = m->regions[i].low;
    bounds[MEM_REGION_COUNT] = memory_end(m);
    set_regions(m, bounds);
}

static bool set_address_error(struct err *e) {
    if (!address_limit())
        return err_set(e, ERR_SYSTEM, "cannot reserve address space for device memory: %s",
                       strerror(errno));
    return err_set(e, ERR_SYSTEM,
                   "the simulated GPU needs %llu KiB of addresses (not memory), but the limit is "
                   "%llu KiB: run `ulimit -v unlimited` in a new shell",
                   (unsigned long long)(LIMITED_SHARE * LIMITED_MIN_BYTES >> 10),
                   (unsigned long long)address_limit() >> 10);
}

/* Reserves [memory_start, memory_end); returns where byte 0 would be. */
static unsigned char *reserve_span(const struct memory *m) {
    unsigned char *p = reserve(memory_end(m) - memory_start(m));
    return p ? p - memory_start(m) : NULL;
}

static void release_span(const struct memory *m, unsigned char *byte_0) {
    if (byte_0) munmap(byte_0 + memory_start(m), memory_end(m) - memory_start(m));
}

bool memory_open(struct memory *m, uint64_t limit, struct err *e) {
    uint64_t bounds[MEM_REGION_COUNT + 1];
    *m = (struct memory){.limit = limit, .ndevices = 1};
    set_bounds(limit, bounds);
    set_regions(m, bounds);
    bool is_too_small =
        memory_is_address_limited(m) && address_limit() < LIMITED_SHARE * LIMITED_MIN_BYTES;
    if (!is_too_small) m->bytes = reserve_span(m), m->init_shadow = reserve_span(m);
    if (m->bytes && m->init_shadow) return true;
    memory_close(m);
    return set_address_error(e);
}

void memory_set_devices(struct memory *m, unsigned ndevices) {
    m->ndevices = ndevices;
    m->limit /= ndevices;
}

void memory_close(struct memory *m) {
    release_span(m, m->bytes), release_span(m, m->init_shadow);
    memory_close_export(m);
    free(m->allocations);
    *m = (struct memory){0};
}

bool memory_map_host_shared(struct memory *m, int fd, uint64_t offset) {
    if (memory_is_address_limited(m)) return false;
    void *p = mmap(m->bytes, SIM_HOST_SHARED_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED,
                   fd, (off_t)offset);
    return m->has_host_shared = p != MAP_FAILED;
}

static uint64_t round_to(uint64_t n, uint64_t unit) { return (n + unit - 1) & ~(unit - 1); }

static uint64_t footprint(uint64_t bytes, bool pages) {
    return round_to(bytes + MEM_REDZONE, pages ? memory_page_size() : MEM_ALIGN);
}
static uint64_t allocation_end(const struct allocation *a) {
    return a->start + footprint(a->size, a->is_page_aligned);
}

uint64_t memory_used_start(const struct memory *m) {
    uint64_t first = m->count ? m->allocations[0].start : DEVICE_OFFSET;
    return memory_is_address_limited(m) ? first & ~(memory_page_size() - 1) : 0;
}

/* The end grows in few steps, since the shadow of races begins anew at each: it doubles, or if
 * addresses are scarce, grows by a fixed amount. */
uint64_t memory_used_end(const struct memory *m) {
    uint64_t end = DEVICE_OFFSET + (1ull << 30);
    while (end < m->dirty_end) end += end - DEVICE_OFFSET;
    if (memory_is_address_limited(m))
        end = (m->dirty_end > DEVICE_OFFSET ? m->dirty_end : DEVICE_OFFSET) / LIMITED_UNIT_BYTES *
                  LIMITED_UNIT_BYTES +
              LIMITED_UNIT_BYTES;
    return end < memory_end(m) ? end : memory_end(m);
}

/* Returns the index of the first allocation that ends after an offset. */
static unsigned first_ending_after(const struct memory *m, uint64_t offset) {
    unsigned low = 0, high = m->count;
    while (low < high) {
        unsigned mid = (low + high) / 2;
        if (allocation_end(&m->allocations[mid]) <= offset) low = mid + 1;
        else high = mid;
    }
    return low;
}

static void remove_from_quarantine(struct memory *m, const struct allocation *a) {
    m->regions[a->region].quarantine_count--;
    m->regions[a->region].quarantine_bytes -= footprint(a->size, a->is_page_aligned);
}

/* Makes an entry in the table for [start, end). It replaces the freed allocations that it overlaps.
 */
static struct allocation *insert_allocation(struct memory *m, uint64_t start, uint64_t end) {
    unsigned from = first_ending_after(m, start), to = from;
    for (; to < m->count && m->allocations[to].start < end; to++)
        remove_from_quarantine(m, &m->allocations[to]);
    GROW(m->allocations, m->count + 1, m->capacity, 16);
    if (to != from + 1)
        memmove(m->allocations + from + 1, m->allocations + to,
                (m->count - to) * sizeof *m->allocations);
    m->count = m->count + 1 - (to - from);
    return &m->allocations[from];
}

/* Removes freed allocations from the table, except the last MEM_QUARANTINE_COUNT: their places
 * become gaps. */
static void trim_quarantine(struct memory *m) {
    unsigned retained = 0;
    for (unsigned i = 0; i < m->count; i++) {
        const struct allocation *a = &m->allocations[i];
        bool old = a->state == ALLOCATION_FREED &&
                   m->next_free_serial - a->free_serial > MEM_QUARANTINE_COUNT;
        if (old) remove_from_quarantine(m, a);
        else if (retained++ != i) m->allocations[retained - 1] = *a;
    }
    m->count = retained;
}

/* ---- the shadow of large ranges ---- */

/* A memory file of ones, or -1. Its pages are mapped as the shadow of large inputs, so that the
 * shadow of 256 MiB of initialized data takes no memory until an undefined value is stored there.
 */
static int shadow_file = -1;
static bool is_shadow_file_tried;
enum { SHADOW_FILE_BYTES = 4 << 20 };

void memory_create_shadow_file(void) {
    unsigned char *p = MAP_FAILED;
    if (is_shadow_file_tried) return;
    is_shadow_file_tried = true;
    if ((shadow_file = memfd_create("written", MFD_CLOEXEC)) < 0) return;
    if (!ftruncate(shadow_file, SHADOW_FILE_BYTES))
        p = mmap(NULL, SHADOW_FILE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, shadow_file, 0);
    if (p == MAP_FAILED) {
        close(shadow_file), shadow_file = -1;
        return;
    }
    memset(p, 1, SHADOW_FILE_BYTES), munmap(p, SHADOW_FILE_BYTES);
}

/* Marks the whole pages [at, end) as initialized by mapping; returns false if the caller must write
 * the shadow itself (the mapped pages stay writable). */
static bool map_initialized(struct memory *m, uint64_t at, uint64_t end) {
    for (uint64_t n; at < end; at += n) {
        n = end - at < SHADOW_FILE_BYTES ? end - at : SHADOW_FILE_BYTES;
        if (mmap(m->init_shadow + at, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_FIXED,
                 shadow_file, 0) == MAP_FAILED)
            return false;
    }
    return true;
}

static void set_initialized(struct memory *m, uint64_t at, uint64_t bytes) {
    uint64_t first = round_to(at, memory_page_size()),
             last = (at + bytes) & ~(memory_page_size() - 1);
    if (bytes >= SHADOW_FILE_BYTES) memory_create_shadow_file();
    if (shadow_file < 0 || bytes < SHADOW_FILE_BYTES || !map_initialized(m, first, last))
        memset(m->init_shadow + at, 1, bytes);
    else
        memset(m->init_shadow + at, 1, first - at),
            memset(m->init_shadow + last, 1, at + bytes - last);
}

/* Maps fresh zero pages over whatever was mapped there. */
static bool map_uninitialized(struct memory *m, uint64_t at, uint64_t bytes) {
    return mmap(m->init_shadow + at, bytes, PROT_READ | PROT_WRITE,
                MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0) != MAP_FAILED;
}

/* From this many bytes on, release pages instead of clearing them. */
static const uint64_t RELEASE_MIN_BYTES = 1 << 20;

/* Clears a range by releasing its whole pages, so that it costs nothing until it is used. Returns
 * false, with nothing done, if the caller must clear it. */
static bool release_pages(unsigned char *base, uint64_t at, uint64_t bytes, int advice) {
    uint64_t first = round_to(at, memory_page_size()),
             last = (at + bytes) & ~(memory_page_size() - 1);
    if (bytes < RELEASE_MIN_BYTES || madvise(base + first, last - first, advice) != 0) return false;
    memset(base + at, 0, first - at);
    memset(base + last, 0, at + bytes - last);
    return true;
}

/* Marks the range as uninitialized. */
static void clear_initialized(struct memory *m, uint64_t at, uint64_t bytes) {
    uint64_t first = round_to(at, memory_page_size()),
             last = (at + bytes) & ~(memory_page_size() - 1);
    if (bytes < RELEASE_MIN_BYTES || !map_uninitialized(m, first, last - first))
        memset(m->init_shadow + at, 0, bytes);
    else
        memset(m->init_shadow + at, 0, first - at),
            memset(m->init_shadow + last, 0, at + bytes - last);
}

void memory_zero(struct memory *m, uint64_t address, uint64_t bytes) {
    uint64_t at = address - SIM_BASE;
    bool shared = m->has_host_shared && at < SIM_HOST_SHARED_BYTES;
    if (!release_pages(m->bytes, at, bytes, shared ? MADV_REMOVE : MADV_DONTNEED))
        memset(m->bytes + at, 0, bytes);
}

/* Returns the first gap of `required` bytes in [from, to) between live allocations; 0 = none. */
static uint64_t find_gap(const struct memory *m, uint64_t from, uint64_t to, uint64_t required,
                         uint64_t align) {
    uint64_t at = round_to(from, align);
    for (unsigned i = first_ending_after(m, at);
         i < m->count && m->allocations[i].start < at + required; i++)
        if (m->allocations[i].state != ALLOCATION_FREED)
            at = round_to(allocation_end(&m->allocations[i]), align);
    return at + required <= to ? at : 0;
}

static uint64_t find_address(struct memory *m, enum memory_region region, uint64_t need,
                             uint64_t align) {
    uint64_t low = m->regions[region].low, high = m->regions[region].high,
             used_end = m->regions[region].ever_used_end;
    uint64_t after_used = round_to(used_end, align), at = 0;
    bool has_space = need <= high - low && after_used <= high - need;
    bool reuse_quarantine = m->regions[region].quarantine_count >= MEM_QUARANTINE_COUNT ||
                            m->regions[region].quarantine_bytes >= MEM_QUARANTINE_BYTES ||
                            !has_space;
    if (reuse_quarantine) at = find_gap(m, m->regions[region].search_start, used_end, need, align);
    if (reuse_quarantine && !at) at = find_gap(m, low, used_end, need, align);
    if (at) m->regions[region].search_start = at + need;
    return at ? at : has_space ? after_used : find_gap(m, low, high, need, align);
}

static uint64_t allocate(struct memory *m, uint64_t bytes, const char *name, bool pages,
                         enum memory_region region) {
    if (bytes > m->limit && region == MEM_DEVICE) return 0;
    if (bytes >= SIM_SPAN || (region == MEM_DEVICE && m->used_by[m->device] + bytes > m->limit))
        return 0;
    uint64_t required = footprint(bytes, pages),
             at = find_address(m, region, required, pages ? memory_page_size() : MEM_ALIGN);
    if (!at) return 0;
    struct allocation *a = insert_allocation(m, at, at + required);
    *a = (struct allocation){.start = at,
                             .size = bytes,
                             .serial = m->next_serial++,
                             .is_page_aligned = pages,
                             .region = region,
                             .device = (uint8_t)m->device,
                             .is_initialized = region == MEM_HOST_SHARED,
                             .is_race_checked = true};
    snprintf(a->name, sizeof a->name, "%s", name ? name : "");
    if (region == MEM_DEVICE) m->used += bytes, m->used_by[m->device] += bytes;
    if (at + required > m->regions[region].ever_used_end)
        m->regions[region].ever_used_end = at + required;
    if (at + required > m->dirty_end) m->dirty_end = at + required;
    if (region != MEM_HOST_SHARED) clear_initialized(m, at, bytes);
    return SIM_BASE + at;
}

uint64_t memory_alloc(struct memory *m, uint64_t bytes, const char *name) {
    return allocate(m, bytes, name, false, MEM_DEVICE);
}
uint64_t memory_alloc_pages(struct memory *m, uint64_t bytes, const char *name) {
    return allocate(m, bytes, name, true, MEM_DEVICE);
}
uint64_t memory_alloc_internal(struct memory *m, uint64_t bytes, const char *name) {
    return allocate(m, bytes, name, false, MEM_INTERNAL);
}
uint64_t memory_alloc_host_shared(struct memory *m, uint64_t bytes, const char *name) {
    return m->has_host_shared ? allocate(m, bytes, name, true, MEM_HOST_SHARED) : 0;
}

void memory_hide_from_kernel(struct memory *m, uint32_t accessible) {
    for (unsigned i = 0; i < m->count; i++) {
        struct allocation *a = &m->allocations[i];
        bool is_remote = a->region == MEM_DEVICE && !(accessible >> a->device & 1);
        if (a->state == ALLOCATION_LIVE && (a->is_pinned_host || is_remote))
            a->state = ALLOCATION_HIDDEN;
    }
}

void memory_show_all(struct memory *m) {
    for (unsigned i = 0; i < m->count; i++)
        if (m->allocations[i].state == ALLOCATION_HIDDEN) m->allocations[i].state = ALLOCATION_LIVE;
}

void memory_release_pages(struct memory *m) {
    uint64_t end = round_to(m->dirty_end, memory_page_size()),
             first = m->has_host_shared ? SIM_HOST_SHARED_BYTES : memory_start(m);
    if (m->has_host_shared) madvise(m->bytes, SIM_HOST_SHARED_BYTES, MADV_REMOVE);
    if (end > first)
        madvise(m->bytes + first, (end < memory_end(m) ? end : memory_end(m)) - first,
                MADV_DONTNEED);
    m->dirty_end = 0;
    for (unsigned i = 0; i < m->count; i++)
        if (allocation_end(&m->allocations[i]) > m->dirty_end)
            m->dirty_end = allocation_end(&m->allocations[i]);
}

struct allocation *memory_find_allocation(struct memory *m, uint64_t address) {
    int i = memory_find_preceding(m, address);
    if (i < 0 || m->allocations[i].state != ALLOCATION_LIVE) return NULL;
    uint64_t offset_in = address - SIM_BASE - m->allocations[i].start;
    return offset_in < m->allocations[i].size || offset_in == 0 ? &m->allocations[i] : NULL;
}

/* Zeroes a freed range: releases the pages of a large one at once. */
static void release_freed(struct memory *m, const struct allocation *a) {
    if (a->size < RELEASE_MIN_BYTES || (a->is_page_aligned && a->region != MEM_HOST_SHARED)) return;
    memory_zero(m, SIM_BASE + a->start, a->size);
    clear_initialized(m, a->start, a->size);
}

enum sim_status memory_free(struct memory *m, uint64_t address) {
    struct allocation *a = memory_find_allocation(m, address);
    if (!a || a->is_module_var || a->start != address - SIM_BASE) return SIM_BAD_ADDRESS;
    a->state = ALLOCATION_FREED;
    a->free_serial = m->next_free_serial++;
    if (a->region == MEM_DEVICE) m->used -= a->size, m->used_by[a->device] -= a->size;
    m->regions[a->region].quarantine_bytes += footprint(a->size, a->is_page_aligned);
    memory_unmap_freed(m, a);
    release_freed(m, a);
    if (++m->regions[a->region].quarantine_count >= 2 * MEM_QUARANTINE_COUNT) trim_quarantine(m);
    return SIM_OK;
}

void memory_free_all(struct memory *m) {
    unsigned retained = 0;
    reset_regions(m);
    m->used = 0;
    memset(m->used_by, 0, sizeof m->used_by);
    for (unsigned i = 0; i < m->count; i++) {
        struct allocation a = m->allocations[i];
        if (a.state != ALLOCATION_LIVE || !a.is_module_var) continue;
        m->allocations[retained++] = a;
        if (a.region == MEM_DEVICE) m->used += a.size, m->used_by[a.device] += a.size;
        if (allocation_end(&a) > m->regions[a.region].ever_used_end)
            m->regions[a.region].ever_used_end = allocation_end(&a);
    }
    m->count = retained;
}

int memory_find_preceding(const struct memory *m, uint64_t address) {
    if (address < SIM_BASE || address - SIM_BASE >= memory_end(m)) return -1;
    uint64_t offset = address - SIM_BASE;
    unsigned low = 0, high = m->count; /* table[low - 1].start <= offset < table[high].start */
    while (low < high) {
        unsigned mid = (low + high) / 2;
        if (m->allocations[mid].start <= offset) low = mid + 1;
        else high = mid;
    }
    return (int)low - 1;
}

int memory_find_range(const struct memory *m, uint64_t address, uint64_t bytes) {
    int i = memory_find_preceding(m, address);
    if (i < 0 || m->allocations[i].state != ALLOCATION_LIVE) return -1;
    uint64_t offset_in = address - SIM_BASE - m->allocations[i].start;
    return offset_in <= m->allocations[i].size && bytes <= m->allocations[i].size - offset_in ? i
                                                                                              : -1;
}

/* A large copy comes in pieces, in order. */
static void extend_initialized_prefix(struct allocation *a, uint64_t at, uint64_t bytes) {
    uint64_t first = at - a->start, end = first + bytes;
    if (first <= a->initialized_prefix && end > a->initialized_prefix) a->initialized_prefix = end;
    if (a->initialized_prefix >= a->size) a->is_initialized = true;
}

void memory_set_initialized(struct memory *m, uint64_t address, uint64_t bytes,
                            bool is_initialized) {
    struct allocation *a = memory_find_allocation(m, address);
    if (a && (a->region == MEM_HOST_SHARED || (is_initialized && a->is_initialized))) return;
    if (is_initialized) set_initialized(m, address - SIM_BASE, bytes);
    else clear_initialized(m, address - SIM_BASE, bytes);
    if (!a) return;
    if (!is_initialized) memory_forget_initialized(a);
    else extend_initialized_prefix(a, address - SIM_BASE, bytes);
}

void memory_set_all_initialized(struct memory *m) {
    for (unsigned i = 0; i < m->count; i++)
        if (m->allocations[i].state == ALLOCATION_LIVE && m->allocations[i].size)
            memory_set_initialized(m, SIM_BASE + m->allocations[i].start, m->allocations[i].size,
                                   true);
}

void memory_update_initialized(struct memory *m) {
    for (unsigned i = 0; i < m->count; i++) {
        struct allocation *a = &m->allocations[i];
        const unsigned char *w = m->init_shadow + a->start;
        if (a->state != ALLOCATION_LIVE || a->is_initialized) continue;
        while (a->initialized_prefix + 4096 <= a->size &&
               memory_is_initialized(m, SIM_BASE + a->start + a->initialized_prefix, 4096))
            a->initialized_prefix += 4096;
        while (a->initialized_prefix < a->size && w[a->initialized_prefix] == 1)
            a->initialized_prefix++;
        a->is_initialized = a->initialized_prefix == a->size;
    }
}

bool memory_is_initialized(const struct memory *m, uint64_t address, uint64_t bytes) {
    const unsigned char *w = m->init_shadow + (address - SIM_BASE);
    unsigned char is_initialized = 1;
    for (uint64_t i = 0; i < bytes; i++) is_initialized &= w[i]; /* marks are even */
    return is_initialized;
}

static void describe_name(const struct allocation *a, char *out, size_t size) {
    if (a->name[0]) snprintf(out, size, "`%s` (%llu bytes)", a->name, (unsigned long long)a->size);
    else snprintf(out, size, "allocation %u (%llu bytes)", a->serial, (unsigned long long)a->size);
}

/* Returns the bytes from `offset` to the next allocation's start; UINT64_MAX if there is none. */
static uint64_t bytes_to_next(const struct memory *m, int i, uint64_t offset) {
    return i + 1 < (int)m->count ? m->allocations[i + 1].start - offset : UINT64_MAX;
}

enum { NEAR_BYTES = 1 << 20 }; /* beyond this many bytes, an address is "far from any allocation" */

void memory_describe(const struct memory *m, uint64_t address, unsigned width, char *out,
                     size_t size) {
    char name[128];
    int i = memory_find_preceding(m, address);
    uint64_t offset = address - SIM_BASE, bytes_past = UINT64_MAX;
    if (address < 4096 || offset >= SIM_SPAN) {
        snprintf(out, size,
                 address < 4096 ? "a null pointer"
                                : "which is not a device address (a host pointer?)");
        return;
    }
    const struct allocation *a = i < 0 ? NULL : &m->allocations[i];
    uint64_t offset_in = a ? offset - a->start : 0, bytes_before = bytes_to_next(m, i, offset);
    if (a)
        describe_name(a, name, sizeof name),
            bytes_past = offset_in < a->size ? 0 : offset_in - a->size;
    if (a && offset_in < a->size && a->state == ALLOCATION_FREED)
        snprintf(out, size, "in %s, which was freed", name);
    else if (a && offset_in < a->size && a->state == ALLOCATION_HIDDEN && a->is_pinned_host)
        snprintf(out, size,
                 "in %s, which is in host memory: copy it to device memory first "
                 "(cudaMemcpyAsync)",
                 name);
    else if (a && offset_in < a->size && a->state == ALLOCATION_HIDDEN)
        snprintf(out, size,
                 "in %s of device %u, which device %u may not access: call "
                 "cudaDeviceEnablePeerAccess(%u, 0) on device %u",
                 name, a->device, m->device, a->device, m->device);
    else if (a && offset_in < a->size && offset_in + width > a->size)
        snprintf(out, size, "across the end of %s", name);
    else if (a && offset_in < a->size)
        snprintf(out, size, "at byte %llu of %s", (unsigned long long)offset_in, name);
    else if (bytes_past > NEAR_BYTES && bytes_before > NEAR_BYTES)
        snprintf(out, size, "far from any allocation");
    else if (bytes_past <= bytes_before)
        snprintf(out, size, "%llu bytes past the end of %s", (unsigned long long)bytes_past, name);
    else {
        describe_name(&m->allocations[i + 1], name, sizeof name);
        snprintf(out, size, "%llu bytes before the start of %s", (unsigned long long)bytes_before,
                 name);
    }
}

void memory_describe_relative(const struct memory *m, int i, uint64_t address, unsigned width,
                              char *out, size_t size) {
    const struct allocation *a = &m->allocations[i];
    uint64_t offset = address - SIM_BASE;
    char name[128];
    describe_name(a, name, sizeof name);
    if (offset < a->start)
        snprintf(out, size, "%llu bytes before the start of %s",
                 (unsigned long long)(a->start - offset), name);
    else if (offset < a->start + a->size && offset + width > a->start + a->size)
        snprintf(out, size, "across the end of %s", name);
    else
        snprintf(out, size, "%llu bytes past the end of %s",
                 (unsigned long long)(offset - a->start - a->size), name);
}

void memory_describe_element(const struct memory *m, uint64_t address, unsigned width, char *out,
                             size_t size) {
    char name[128], location[256];
    int i = memory_find_range(m, address, width);
    uint64_t offset_in = i < 0 ? 0 : address - SIM_BASE - m->allocations[i].start;
    if (i >= 0 && width && offset_in % width == 0) {
        describe_name(&m->allocations[i], name, sizeof name);
        snprintf(out, size, "element %llu of %s", (unsigned long long)(offset_in / width), name);
    } else {
        memory_describe(m, address, 1, location, sizeof location);
        snprintf(out, size, "memory %s", location);
    }
}
