/* memory.c — see mem.h. First fit by address over the table, so that the same calls give the same addresses. */
#include "grader/sim/mem/mem.h"
#include "common/grow.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static void *reserve(uint64_t bytes) {
    void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return p == MAP_FAILED ? NULL : p;
}

/* Address space that `limit` bytes can take, redzones and alignment of small allocations included. */
uint64_t memory_span(const struct memory *m) {
    uint64_t span = m->limit * 2 + (1ull << 30);
    return span < SIM_SPAN ? span : SIM_SPAN;
}

bool memory_open(struct memory *m, uint64_t limit, struct err *e) {
    *m = (struct memory){.limit = limit ? limit : 2ull << 30};
    m->bytes = reserve(memory_span(m));
    m->written = reserve(memory_span(m));
    if (m->bytes && m->written) return true;
    memory_close(m);
    return err_set(e, ERR_SYSTEM, "cannot reserve address space for device memory: %s", strerror(errno));
}

void memory_close(struct memory *m) {
    if (m->bytes) munmap(m->bytes, memory_span(m));
    if (m->written) munmap(m->written, memory_span(m));
    free(m->table);
    *m = (struct memory){0};
}

static const uint64_t ASIDE = 512ull << 20; /* bytes of address space, at the end, for memory_alloc_aside */

static uint64_t round_to(uint64_t n, uint64_t unit) { return (n + unit - 1) & ~(unit - 1); }

static uint64_t footprint(uint64_t bytes, bool pages) {
    return round_to(bytes + MEM_REDZONE, pages ? MEM_PAGE : MEM_ALIGN);
}
static uint64_t end_of(const struct allocation *a) { return a->start + footprint(a->size, a->pages); }

/* Forgets freed allocations that overlap [start, end): their place is taken. Returns the place in the table. */
static unsigned make_room(struct memory *m, uint64_t start, uint64_t end) {
    unsigned from = 0, to;
    while (from < m->count && end_of(&m->table[from]) <= start) from++;
    for (to = from; to < m->count && m->table[to].start < end; to++)
        ;
    if (to > from) memmove(m->table + from, m->table + to, (m->count - to) * sizeof *m->table);
    m->count -= to - from;
    return from;
}

/* Nothing in the range counts as written. Whole pages are given back rather than cleared: a large allocation costs nothing
 * until it is used. */
static void clear_written(struct memory *m, uint64_t at, uint64_t bytes) {
    const uint64_t page = 4096, large = 1 << 20;
    uint64_t first = (at + page - 1) & ~(page - 1), last = (at + bytes) & ~(page - 1);
    if (bytes < large || madvise(m->written + first, last - first, MADV_DONTNEED) != 0) {
        memset(m->written + at, 0, bytes);
        return;
    }
    memset(m->written + at, 0, first - at);
    memset(m->written + last, 0, at + bytes - last);
}

/* The lowest place with `need` free bytes; while there is room at the end, freed places are left alone, so that a
 * use after free is found. */
static uint64_t find_place(const struct memory *m, uint64_t need, uint64_t align, bool aside, bool reuse) {
    uint64_t border = memory_span(m) - ASIDE, at = aside ? border : align;
    for (unsigned i = 0; i < m->count; i++) {
        const struct allocation *a = &m->table[i];
        if ((reuse && a->state == ALLOCATION_FREED) || end_of(a) <= at) continue;
        if (a->start >= at + need) break;
        at = round_to(end_of(a), align);
    }
    return at + need <= (aside ? memory_span(m) : border) ? at : 0;
}

static uint64_t allocate(struct memory *m, uint64_t bytes, const char *name, bool pages, bool aside) {
    const uint64_t align = pages ? MEM_PAGE : MEM_ALIGN;
    if (!aside && (bytes > m->limit || m->used + bytes > m->limit)) return 0;
    uint64_t need = footprint(bytes, pages), at = find_place(m, need, align, aside, false);
    if (!at) at = find_place(m, need, align, aside, true);
    if (!at) return 0;
    unsigned i = make_room(m, at, at + need);
    GROW(m->table, m->count + 1, m->capacity, 16);
    if (i < m->count) memmove(m->table + i + 1, m->table + i, (m->count - i) * sizeof *m->table);
    m->count++;
    m->table[i] = (struct allocation){.start = at,
                                      .size = bytes,
                                      .serial = (uint32_t)m->next_serial++,
                                      .pages = pages,
                                      .aside = aside,
                                      .watched = true};
    snprintf(m->table[i].name, sizeof m->table[i].name, "%s", name ? name : "");
    if (!aside) m->used += bytes;
    if (at + need > m->top) m->top = at + need;
    clear_written(m, at, bytes);
    return SIM_BASE + at;
}

uint64_t memory_alloc(struct memory *m, uint64_t bytes, const char *name) {
    return allocate(m, bytes, name, false, false);
}
uint64_t memory_alloc_pages(struct memory *m, uint64_t bytes, const char *name) {
    return allocate(m, bytes, name, true, false);
}
uint64_t memory_alloc_aside(struct memory *m, uint64_t bytes, const char *name) {
    return allocate(m, bytes, name, false, true);
}

/* ---- pages shared with another process ---- */

bool memory_share(struct memory *m, uint64_t address, int fd, uint64_t offset) {
    const struct allocation *a = memory_at(m, address);
    if (!a || !a->pages || !a->size || m->nshares == MEM_SHARES) return false;
    uint64_t bytes = round_to(a->size, MEM_PAGE);
    void *p = mmap(m->bytes + a->start, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, (off_t)offset);
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
    uint64_t bytes = round_to(m->top, MEM_PAGE);
    if (bytes) madvise(m->bytes, bytes < memory_span(m) ? bytes : memory_span(m), MADV_DONTNEED);
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

enum sim_status memory_free(struct memory *m, uint64_t address) {
    struct allocation *a = memory_at(m, address);
    if (!a || a->module || a->start != address - SIM_BASE) return SIM_BAD_ADDRESS;
    a->state = ALLOCATION_FREED;
    if (!a->aside) m->used -= a->size;
    return SIM_OK;
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
    memset(m->written + (address - SIM_BASE), written, bytes);
    struct allocation *a = memory_at(m, address);
    if (!a) return;
    if (!written) a->initialised = false;
    else if (a->start == address - SIM_BASE && bytes >= a->size) a->initialised = true;
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

void memory_describe(const struct memory *m, uint64_t address, unsigned width, char *out, size_t size) {
    char name[128];
    int i = memory_near(m, address);
    uint64_t offset = address - SIM_BASE, past = UINT64_MAX;
    if (address < 4096 || offset >= SIM_SPAN) {
        snprintf(out, size, address < 4096 ? "a null pointer" : "which is no device address (a host pointer?)");
        return;
    }
    const struct allocation *a = i < 0 ? NULL : &m->table[i];
    uint64_t into = a ? offset - a->start : 0, before = to_next(m, i, offset);
    if (a) describe_name(a, name, sizeof name), past = into < a->size ? 0 : into - a->size;
    if (a && into < a->size && a->state == ALLOCATION_FREED) snprintf(out, size, "in %s, which was freed", name);
    else if (a && into < a->size && into + width > a->size) snprintf(out, size, "across the end of %s", name);
    else if (a && into < a->size) snprintf(out, size, "at byte %llu of %s", (unsigned long long)into, name);
    else if (past > NEAR && before > NEAR) snprintf(out, size, "far from any allocation");
    else if (past <= before) snprintf(out, size, "%llu bytes past the end of %s", (unsigned long long)past, name);
    else {
        describe_name(&m->table[i + 1], name, sizeof name);
        snprintf(out, size, "%llu bytes before the start of %s", (unsigned long long)before, name);
    }
}

void memory_describe_from(const struct memory *m, int i, uint64_t address, unsigned width, char *out, size_t size) {
    const struct allocation *a = &m->table[i];
    uint64_t offset = address - SIM_BASE;
    char name[128];
    describe_name(a, name, sizeof name);
    if (offset < a->start)
        snprintf(out, size, "%llu bytes before the start of %s", (unsigned long long)(a->start - offset), name);
    else if (offset < a->start + a->size && offset + width > a->start + a->size)
        snprintf(out, size, "across the end of %s", name);
    else snprintf(out, size, "%llu bytes past the end of %s", (unsigned long long)(offset - a->start - a->size), name);
}

void memory_describe_element(const struct memory *m, uint64_t address, unsigned width, char *out, size_t size) {
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
