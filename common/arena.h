/* arena.h — memory that is given back all at once: what a parser or a decoder builds. */
#pragma once
#include <stddef.h>

struct arena {
    struct arena_chunk *last;
};

/* Zeroed memory, aligned to 64 bytes for sizes from 64 on, else to 16; never NULL. */
void *arena_alloc(struct arena *a, size_t bytes);
char *arena_strndup(struct arena *a, const char *s, size_t n);
char *arena_printf(struct arena *a, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Frees everything; the arena is empty and usable again. A zeroed arena is an empty one. */
void arena_free(struct arena *a);

#define arena_new(a, type)      ((type *)arena_alloc((a), sizeof(type)))
#define arena_array(a, type, n) ((type *)arena_alloc((a), sizeof(type) * (size_t)(n)))
