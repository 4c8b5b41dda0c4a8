/* arena.c — see arena.h. Chunks double from 64 KiB; a request larger than a chunk gets its own.
 * Large chunks are mapped in huge pages if possible: touching 64 MiB in pages of 4 KiB takes longer
 * than filling them. */
#include "common/arena.h"
#include "common/err.h"

#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

struct arena_chunk {
    struct arena_chunk *previous;
    size_t used, size;
    size_t mapping_bytes; /* 0 = the chunk is from the heap */
};

#ifdef __SANITIZE_ADDRESS__
enum { MMAP_THRESHOLD = INT32_MAX }; /* the sanitizer checks only the heap */
#else
enum { MMAP_THRESHOLD = 8 << 20 };
#endif
enum { FIRST_CHUNK_BYTES = 64 << 10, MAX_CHUNK_BYTES = 4 << 20 };

/* Returns a zeroed chunk of `bytes` bytes plus its header. */
static struct arena_chunk *new_chunk(size_t bytes) {
    size_t chunk_bytes = sizeof(struct arena_chunk) + bytes;
    struct arena_chunk *c = MAP_FAILED;
    if (bytes >= MMAP_THRESHOLD && chunk_bytes > bytes)
        c = mmap(NULL, chunk_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (c == MAP_FAILED) return xcalloc(1, chunk_bytes);
    madvise(c, chunk_bytes, MADV_HUGEPAGE); /* may fail */
    c->mapping_bytes = chunk_bytes;
    return c;
}

static void *chunk_alloc(struct arena_chunk *c, size_t bytes, size_t align) {
    uintptr_t base = (uintptr_t)(c + 1),
              at = (base + c->used + align - 1) & ~(uintptr_t)(align - 1);
    if (at + bytes > base + c->size) return NULL;
    c->used = at + bytes - base;
    return (void *)at;
}

void *arena_alloc(struct arena *a, size_t bytes) {
    size_t align = bytes >= 64 ? 64 : 16;
    void *p = a->last ? chunk_alloc(a->last, bytes, align) : NULL;
    if (p) return p;
    size_t size =
        a->last && a->last->size < MAX_CHUNK_BYTES ? a->last->size * 2 : FIRST_CHUNK_BYTES;
    if (size < bytes + 64) size = bytes + 64;
    struct arena_chunk *c = new_chunk(size);
    c->previous = a->last;
    c->size = size;
    a->last = c;
    p = chunk_alloc(c, bytes, align);
    assert(p);
    return p;
}

void *arena_realloc(struct arena *a, const void *old, size_t used, size_t bytes) {
    assert(used <= bytes);
    void *p = arena_alloc(a, bytes);
    if (used) memcpy(p, old, used);
    return p;
}

char *arena_strndup(struct arena *a, const char *s, size_t n) {
    char *p = arena_alloc(a, n + 1);
    memcpy(p, s, n);
    return p;
}

static bool is_mapped(const struct arena *a, uintptr_t from, uintptr_t to) {
    for (const struct arena_chunk *c = a->last; c; c = c->previous)
        if ((uintptr_t)c <= from && to <= (uintptr_t)c + c->mapping_bytes) return true;
    return false;
}

void arena_release_pages(const struct arena *a, void *p, size_t bytes) {
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    uintptr_t from = ((uintptr_t)p + page - 1) & ~(page - 1),
              to = ((uintptr_t)p + bytes) & ~(page - 1);
    if (from < to && is_mapped(a, from, to))
        madvise((void *)from, to - from, MADV_DONTNEED); /* may fail */
}

void arena_free(struct arena *a) {
    for (struct arena_chunk *c = a->last, *next; c; c = next) {
        next = c->previous;
        if (c->mapping_bytes) munmap(c, c->mapping_bytes);
        else free(c);
    }
    a->last = NULL;
}
