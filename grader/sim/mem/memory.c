/* memory.c — see mem.h. The same calls give the same addresses.
 *
 * Where an allocation goes: behind all that were, while few places that were freed wait for their
 * use after free to be found. Then into the next gap, on from where the last one was found, which
 * is the place that has waited longest. So the cost of a call does not grow with the number of
 * calls before it. */
#include "grader/sim/mem/mem.h"
#include "common/grow.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static void *reserve(uint64_t bytes) {
    void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
                   -1, 0);
    return p == MAP_FAILED ? NULL : p;
}

/* Of this machine: aarch64 has kernels with pages of 16 and 64 KiB. What is mapped or given back
 * begins and ends with a page. */
uint64_t memory_page(void) {
    uint64_t bytes = (uint64_t)sysconf(_SC_PAGESIZE);
    return bytes > MEM_PAGE ? bytes : MEM_PAGE;
}

static const uint64_t DEVICE = SIM_DEVICE - SIM_BASE;

/* Device memory takes twice the address space of `limit` bytes, for redzones and the alignment of
 * small allocations. */
uint64_t memory_span(const struct memory *m) {
    uint64_t span = DEVICE + m->limit * 2 + (1ull << 30);
    return span < SIM_SPAN ? span : SIM_SPAN;
}

static void forget_places(struct memory *m) {
    const uint64_t border[] = {memory_page(), SIM_SHARED_BYTES, DEVICE + MEM_ALIGN, memory_span(m)};
    for (unsigned i = 0; i < MEM_REGIONS; i++) {
        m->regions[i].low = m->regions[i].top = m->regions[i].at = border[i];
        m->regions[i].high = border[i + 1];
        m->regions[i].freed_bytes = m->regions[i].nfreed = 0;
    }
}

bool memory_open(struct memory *m, uint64_t limit, struct err *e) {
    *m = (struct memory){.limit = limit};
    m->bytes = reserve(memory_span(m));
    m->written = reserve(memory_span(m));
    forget_places(m);
    if (m->bytes && m->written) return true;
    memory_close(m);
    return err_set(e, ERR_SYSTEM, "cannot reserve address space for device memory: %s",
                   strerror(errno));
}

void memory_close(struct memory *m) {
    if (m->bytes) munmap(m->bytes, memory_span(m));
    if (m->written) munmap(m->written, memory_span(m));
    free(m->table);
    *m = (struct memory){0};
}

bool memory_back_shared(struct memory *m, int fd, uint64_t offset) {
    void *p = mmap(m->bytes, SIM_SHARED_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd,
                   (off_t)offset);
    return m->shared = p != MAP_FAILED;
}

static uint64_t round_to(uint64_t n, uint64_t unit) { return (n + unit - 1) & ~(unit - 1); }

static uint64_t footprint(uint64_t bytes, bool pages) {
    return round_to(bytes + MEM_REDZONE, pages ? memory_page() : MEM_ALIGN);
}
static uint64_t end_of(const struct allocation *a) {
    return a->start + footprint(a->size, a->pages);
}

uint64_t memory_reach(const struct memory *m) {
    uint64_t reach = DEVICE + (1ull << 30);
    while (reach < m->top) reach += reach - DEVICE; /* in few steps */
    return reach < memory_span(m) ? reach : memory_span(m);
}

/* Index of the first allocation that ends behind an offset. */
static unsigned first_behind(const struct memory *m, uint64_t offset) {
    unsigned low = 0, high = m->count;
    while (low < high) {
        unsigned mid = (low + high) / 2;
        if (end_of(&m->table[mid]) <= offset) low = mid + 1;
        else high = mid;
    }
    return low;
}

static void uncount_freed(struct memory *m, const struct allocation *a) {
    m->regions[a->region].nfreed--;
    m->regions[a->region].freed_bytes -= footprint(a->size, a->pages);
}

/* A place in the table for what takes [start, end): that of the freed ones which it overlaps, which
 * are forgotten. */
static struct allocation *make_room(struct memory *m, uint64_t start, uint64_t end) {
    unsigned from = first_behind(m, start), to = from;
    for (; to < m->count && m->table[to].start < end; to++) uncount_freed(m, &m->table[to]);
    GROW(m->table, m->count + 1, m->capacity, 16);
    if (to != from + 1)
        memmove(m->table + from + 1, m->table + to, (m->count - to) * sizeof *m->table);
    m->count = m->count + 1 - (to - from);
    return &m->table[from];
}

/* Forgets all places that were freed but the last MEM_FREED: they are gaps like others. */
static void forget_freed(struct memory *m) {
    unsigned kept = 0;
    for (unsigned i = 0; i < m->count; i++) {
        const struct allocation *a = &m->table[i];
        bool old = a->state == ALLOCATION_FREED && m->next_freed - a->freed > MEM_FREED;
        if (old) uncount_freed(m, a);
        else if (kept++ != i) m->table[kept - 1] = *a;
    }
    m->count = kept;
}

/* ---- the shadow of large ranges ---- */

/* A memory file of ones. Its pages stand in the shadow of a large input instead of as many pages of
 * its own: of 256 MiB that were all written, none costs memory until an undefined value is stored
 * there. -1 = there is none. */
static int ones = -1;
enum { ONES = 4 << 20 };

void memory_prepare(void) {
    unsigned char *p = MAP_FAILED;
    if (ones >= 0 || (ones = memfd_create("written", MFD_CLOEXEC)) < 0) return;
    if (!ftruncate(ones, ONES)) p = mmap(NULL, ONES, PROT_READ | PROT_WRITE, MAP_SHARED, ones, 0);
    if (p == MAP_FAILED) {
        close(ones), ones = -1;
        return;
    }
    memset(p, 1, ONES), munmap(p, ONES);
}

/* Whole pages [at, end) count as written; false: they have to be by hand, for what is mapped there
 * by then can be written, too. */
static bool map_ones(struct memory *m, uint64_t at, uint64_t end) {
    for (uint64_t n; at < end; at += n) {
        n = end - at < ONES ? end - at : ONES;
        if (mmap(m->written + at, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_FIXED, ones, 0) ==
            MAP_FAILED)
            return false;
    }
    return true;
}

static void set_written(struct memory *m, uint64_t at, uint64_t bytes) {
    uint64_t first = round_to(at, memory_page()), last = (at + bytes) & ~(memory_page() - 1);
    if (ones < 0 || bytes < ONES || !map_ones(m, first, last)) memset(m->written + at, 1, bytes);
    else memset(m->written + at, 1, first - at), memset(m->written + last, 1, at + bytes - last);
}

/* Fresh pages, whatever was mapped there. */
static bool map_zeros(struct memory *m, uint64_t at, uint64_t bytes) {
    return mmap(m->written + at, bytes, PROT_READ | PROT_WRITE,
                MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0) != MAP_FAILED;
}

static const uint64_t GIVEN_BACK =
    1 << 20; /* bytes from which on pages are given back rather than cleared */

/* Gives the whole pages of a range back, so that it costs nothing until it is used; false: clear it
 * by hand, and in any case what is left of [at, first) and [last, at + bytes). */
static bool give_back(unsigned char *base, uint64_t at, uint64_t bytes, int how) {
    uint64_t first = round_to(at, memory_page()), last = (at + bytes) & ~(memory_page() - 1);
    if (bytes < GIVEN_BACK || madvise(base + first, last - first, how) != 0) return false;
    memset(base + at, 0, first - at);
    memset(base + last, 0, at + bytes - last);
    return true;
}

/* Nothing in the range counts as written. */
static void clear_written(struct memory *m, uint64_t at, uint64_t bytes) {
    uint64_t first = round_to(at, memory_page()), last = (at + bytes) & ~(memory_page() - 1);
    if (bytes < GIVEN_BACK || !map_zeros(m, first, last - first)) memset(m->written + at, 0, bytes);
    else memset(m->written + at, 0, first - at), memset(m->written + last, 0, at + bytes - last);
}

void memory_zero(struct memory *m, uint64_t address, uint64_t bytes) {
    uint64_t at = address - SIM_BASE;
    bool shared = m->shared && at < SIM_SHARED_BYTES;
    if (!give_back(m->bytes, at, bytes, shared ? MADV_REMOVE : MADV_DONTNEED))
        memset(m->bytes + at, 0, bytes);
}

/* The first gap of `need` bytes in [from, to) between what is alive; 0 = none. */
static uint64_t find_gap(const struct memory *m, uint64_t from, uint64_t to, uint64_t need,
                         uint64_t align) {
    uint64_t at = round_to(from, align);
    for (unsigned i = first_behind(m, at); i < m->count && m->table[i].start < at + need; i++)
        if (m->table[i].state != ALLOCATION_FREED) at = round_to(end_of(&m->table[i]), align);
    return at + need <= to ? at : 0;
}

static uint64_t find_place(struct memory *m, enum memory_region region, uint64_t need,
                           uint64_t align) {
    uint64_t low = m->regions[region].low, high = m->regions[region].high,
             top = m->regions[region].top;
    uint64_t behind = round_to(top, align), at = 0;
    bool room = need <= high - low && behind <= high - need;
    bool reuse = m->regions[region].nfreed >= MEM_FREED ||
                 m->regions[region].freed_bytes >= MEM_FREED_BYTES || !room;
    if (reuse) at = find_gap(m, m->regions[region].at, top, need, align);
    if (reuse && !at) at = find_gap(m, low, top, need, align);
    if (at) m->regions[region].at = at + need;
    return at ? at : room ? behind : find_gap(m, low, high, need, align);
}

static uint64_t allocate(struct memory *m, uint64_t bytes, const char *name, bool pages,
                         enum memory_region region) {
    if (bytes > m->limit && region == MEM_DEVICE) return 0;
    if (bytes >= SIM_SPAN || (region == MEM_DEVICE && m->used + bytes > m->limit)) return 0;
    uint64_t need = footprint(bytes, pages),
             at = find_place(m, region, need, pages ? memory_page() : MEM_ALIGN);
    if (!at) return 0;
    struct allocation *a = make_room(m, at, at + need);
    *a = (struct allocation){.start = at,
                             .size = bytes,
                             .serial = (uint32_t)m->next_serial++,
                             .pages = pages,
                             .region = region,
                             .initialised = region == MEM_SHARED,
                             .watched = true};
    snprintf(a->name, sizeof a->name, "%s", name ? name : "");
    if (region == MEM_DEVICE) m->used += bytes;
    if (at + need > m->regions[region].top) m->regions[region].top = at + need;
    if (at + need > m->top) m->top = at + need;
    if (region != MEM_SHARED) clear_written(m, at, bytes);
    return SIM_BASE + at;
}

uint64_t memory_alloc(struct memory *m, uint64_t bytes, const char *name) {
    return allocate(m, bytes, name, false, MEM_DEVICE);
}
uint64_t memory_alloc_pages(struct memory *m, uint64_t bytes, const char *name) {
    return allocate(m, bytes, name, true, MEM_DEVICE);
}
uint64_t memory_alloc_aside(struct memory *m, uint64_t bytes, const char *name) {
    return allocate(m, bytes, name, false, MEM_ASIDE);
}
uint64_t memory_alloc_shared(struct memory *m, uint64_t bytes, const char *name) {
    return m->shared ? allocate(m, bytes, name, true, MEM_SHARED) : 0;
}

void memory_hide_host(struct memory *m, bool hidden) {
    for (unsigned i = 0; i < m->count; i++)
        if (m->table[i].host && m->table[i].state != ALLOCATION_FREED)
            m->table[i].state = hidden ? ALLOCATION_HIDDEN : ALLOCATION_LIVE;
}

/* ---- pages shared with another process ---- */

bool memory_share(struct memory *m, uint64_t address, int fd, uint64_t offset) {
    const struct allocation *a = memory_at(m, address);
    if (!a || !a->pages || !a->size || m->nshares == MEM_SHARES) return false;
    uint64_t bytes = round_to(a->size, memory_page());
    void *p = mmap(m->bytes + a->start, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd,
                   (off_t)offset);
    if (p == MAP_FAILED) return false;
    m->shares[m->nshares].start = a->start, m->shares[m->nshares++].bytes = bytes;
    return true;
}

void memory_unshare(struct memory *m) {
    for (unsigned i = 0; i < m->nshares; i++)
        if (mmap(m->bytes + m->shares[i].start, m->shares[i].bytes, PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0) == MAP_FAILED)
            die("device memory: cannot take back shared pages");
    m->nshares = 0;
}

void memory_scrub(struct memory *m) {
    uint64_t bytes = round_to(m->top, memory_page()), first = m->shared ? SIM_SHARED_BYTES : 0;
    if (m->shared) madvise(m->bytes, SIM_SHARED_BYTES, MADV_REMOVE);
    if (bytes > first)
        madvise(m->bytes + first, (bytes < memory_span(m) ? bytes : memory_span(m)) - first,
                MADV_DONTNEED);
    m->top = 0;
    for (unsigned i = 0; i < m->count; i++)
        if (end_of(&m->table[i]) > m->top) m->top = end_of(&m->table[i]);
}

struct allocation *memory_at(struct memory *m, uint64_t address) {
    int i = memory_near(m, address);
    if (i < 0 || m->table[i].state != ALLOCATION_LIVE) return NULL;
    uint64_t into = address - SIM_BASE - m->table[i].start;
    return into < m->table[i].size || into == 0 ? &m->table[i] : NULL;
}

/* What a freed place held is nobody's any more: large ones are given back at once. */
static void give_back_freed(struct memory *m, const struct allocation *a) {
    if (a->size < GIVEN_BACK || (a->pages && a->region != MEM_SHARED)) return;
    memory_zero(m, SIM_BASE + a->start, a->size);
    clear_written(m, a->start, a->size);
}

enum sim_status memory_free(struct memory *m, uint64_t address) {
    struct allocation *a = memory_at(m, address);
    if (!a || a->module || a->start != address - SIM_BASE) return SIM_BAD_ADDRESS;
    a->state = ALLOCATION_FREED;
    a->freed = m->next_freed++;
    if (a->region == MEM_DEVICE) m->used -= a->size;
    m->regions[a->region].freed_bytes += footprint(a->size, a->pages);
    give_back_freed(m, a);
    if (++m->regions[a->region].nfreed >= 2 * MEM_FREED) forget_freed(m);
    return SIM_OK;
}

void memory_free_all(struct memory *m) {
    unsigned kept = 0;
    forget_places(m);
    m->used = 0;
    for (unsigned i = 0; i < m->count; i++) {
        struct allocation a = m->table[i];
        if (a.state != ALLOCATION_LIVE || !a.module) continue;
        m->table[kept++] = a;
        if (a.region == MEM_DEVICE) m->used += a.size;
        if (end_of(&a) > m->regions[a.region].top) m->regions[a.region].top = end_of(&a);
    }
    m->count = kept;
}

int memory_near(const struct memory *m, uint64_t address) {
    if (address < SIM_BASE || address - SIM_BASE >= memory_span(m)) return -1;
    uint64_t offset = address - SIM_BASE;
    unsigned low = 0, high = m->count; /* table[low - 1].start <= offset < table[high].start */
    while (low < high) {
        unsigned mid = (low + high) / 2;
        if (m->table[mid].start <= offset) low = mid + 1;
        else high = mid;
    }
    return (int)low - 1;
}

int memory_find(const struct memory *m, uint64_t address, uint64_t bytes) {
    int i = memory_near(m, address);
    if (i < 0 || m->table[i].state != ALLOCATION_LIVE) return -1;
    uint64_t into = address - SIM_BASE - m->table[i].start;
    return into <= m->table[i].size && bytes <= m->table[i].size - into ? i : -1;
}

void memory_mark(struct memory *m, uint64_t address, uint64_t bytes, bool written) {
    struct allocation *a = memory_at(m, address);
    if (a && (a->region == MEM_SHARED || (written && a->initialised))) return;
    if (written) set_written(m, address - SIM_BASE, bytes);
    else clear_written(m, address - SIM_BASE, bytes);
    if (!a) return;
    if (!written) memory_doubt(a);
    else if (a->start == address - SIM_BASE && bytes >= a->size) a->initialised = true;
}

void memory_learn(struct memory *m) {
    for (unsigned i = 0; i < m->count; i++) {
        struct allocation *a = &m->table[i];
        const unsigned char *w = m->written + a->start;
        if (a->state != ALLOCATION_LIVE || a->initialised) continue;
        while (a->known + 4096 <= a->size &&
               memory_is_written(m, SIM_BASE + a->start + a->known, 4096))
            a->known += 4096;
        while (a->known < a->size && w[a->known] == 1) a->known++;
        a->initialised = a->known == a->size;
    }
}

bool memory_is_written(const struct memory *m, uint64_t address, uint64_t bytes) {
    const unsigned char *w = m->written + (address - SIM_BASE);
    unsigned char all = 1;
    for (uint64_t i = 0; i < bytes; i++) all &= w[i]; /* marks are even */
    return all;
}

static void describe_name(const struct allocation *a, char *out, size_t size) {
    if (a->name[0]) snprintf(out, size, "`%s` (%llu bytes)", a->name, (unsigned long long)a->size);
    else snprintf(out, size, "allocation %u (%llu bytes)", a->serial, (unsigned long long)a->size);
}

/* Bytes from `offset` up to the next allocation's start; UINT64_MAX if there is none. */
static uint64_t to_next(const struct memory *m, int i, uint64_t offset) {
    return i + 1 < (int)m->count ? m->table[i + 1].start - offset : UINT64_MAX;
}

enum { NEAR = 1 << 20 }; /* bytes: what lies further off belongs to no allocation */

void memory_describe(const struct memory *m, uint64_t address, unsigned width, char *out,
                     size_t size) {
    char name[128];
    int i = memory_near(m, address);
    uint64_t offset = address - SIM_BASE, past = UINT64_MAX;
    if (address < 4096 || offset >= SIM_SPAN) {
        snprintf(out, size,
                 address < 4096 ? "a null pointer"
                                : "which is no device address (a host pointer?)");
        return;
    }
    const struct allocation *a = i < 0 ? NULL : &m->table[i];
    uint64_t into = a ? offset - a->start : 0, before = to_next(m, i, offset);
    if (a) describe_name(a, name, sizeof name), past = into < a->size ? 0 : into - a->size;
    if (a && into < a->size && a->state == ALLOCATION_FREED)
        snprintf(out, size, "in %s, which was freed", name);
    else if (a && into < a->size && a->state == ALLOCATION_HIDDEN)
        snprintf(out, size,
                 "in %s, which lies in the host's memory: copy it to device memory first "
                 "(cudaMemcpyAsync)",
                 name);
    else if (a && into < a->size && into + width > a->size)
        snprintf(out, size, "across the end of %s", name);
    else if (a && into < a->size)
        snprintf(out, size, "at byte %llu of %s", (unsigned long long)into, name);
    else if (past > NEAR && before > NEAR) snprintf(out, size, "far from any allocation");
    else if (past <= before)
        snprintf(out, size, "%llu bytes past the end of %s", (unsigned long long)past, name);
    else {
        describe_name(&m->table[i + 1], name, sizeof name);
        snprintf(out, size, "%llu bytes before the start of %s", (unsigned long long)before, name);
    }
}

void memory_describe_from(const struct memory *m, int i, uint64_t address, unsigned width,
                          char *out, size_t size) {
    const struct allocation *a = &m->table[i];
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
    char name[128], where[256];
    int i = memory_find(m, address, width);
    uint64_t into = i < 0 ? 0 : address - SIM_BASE - m->table[i].start;
    if (i >= 0 && width && into % width == 0) {
        describe_name(&m->table[i], name, sizeof name);
        snprintf(out, size, "element %llu of %s", (unsigned long long)(into / width), name);
    } else {
        memory_describe(m, address, 1, where, sizeof where);
        snprintf(out, size, "memory %s", where);
    }
}
