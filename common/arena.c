/* arena.c — see arena.h. Chunks double from 64 KiB; a request larger than a chunk gets its own. */
#include "common/arena.h"
#include "common/err.h"

#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct arena_chunk {
    struct arena_chunk *previous;
    size_t used, size;
};

enum { FIRST_CHUNK = 64 << 10, LARGEST_STEP = 4 << 20 };

static void *take(struct arena_chunk *c, size_t bytes, size_t align) {
    uintptr_t base = (uintptr_t)(c + 1), at = (base + c->used + align - 1) & ~(uintptr_t)(align - 1);
    if (at + bytes > base + c->size) return NULL;
    c->used = at + bytes - base;
    return (void *)at;
}

void *arena_alloc(struct arena *a, size_t bytes) {
    size_t align = bytes >= 64 ? 64 : 16;
    void *p = a->last ? take(a->last, bytes, align) : NULL;
    if (p) return p;
    size_t size = a->last && a->last->size < LARGEST_STEP ? a->last->size * 2 : FIRST_CHUNK;
    if (size < bytes + 64) size = bytes + 64;
    struct arena_chunk *c = xcalloc(1, sizeof *c + size);
    c->previous = a->last;
    c->size = size;
    a->last = c;
    p = take(c, bytes, align);
    assert(p);
    return p;
}

void *arena_moved(struct arena *a, const void *old, size_t used, size_t bytes) {
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

void arena_free(struct arena *a) {
    for (struct arena_chunk *c = a->last, *next; c; c = next) {
        next = c->previous;
        free(c);
    }
    a->last = NULL;
}
