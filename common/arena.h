/* arena.h — memory that is freed all at once, for data structures of parsers and decoders, among
 * others. */
#pragma once
#include "common/grow.h"

#include <stdbool.h>
#include <stddef.h>

struct arena {
    struct arena_chunk *last;
};

/* Returns zeroed memory, aligned to 64 bytes for sizes from 64 on, else to 16; never NULL. */
void *arena_alloc(struct arena *a, size_t bytes);
char *arena_strndup(struct arena *a, const char *s, size_t n);
/* Frees everything; the arena is empty and usable again. A zeroed arena is an empty one. */
void arena_free(struct arena *a);

/* Gives the memory of whole pages in [p, p + bytes) back to the system; their content is lost. */
void arena_release_pages(const struct arena *a, void *p, size_t bytes);

/* Returns `bytes` bytes that begin with a copy of the first `used` bytes of `old`. */
void *arena_realloc(struct arena *a, const void *old, size_t used, size_t bytes);

#define arena_new(a, type)      ((type *)arena_alloc((a), sizeof(type)))
#define arena_array(a, type, n) ((type *)arena_alloc((a), sizeof(type) * (size_t)(n)))

/* Grows `array`, whose first `n` elements are in use, to `need` elements; like GROW in grow.h. */
#define ARENA_GROW(a, array, n, need, capacity, first)                                  \
    do {                                                                                \
        size_t need_ = (need);                                                          \
        if (need_ > (capacity)) {                                                       \
            (capacity) = (__typeof__(capacity))grow_capacity(                           \
                (capacity), need_, (first), sizeof *(array), (__typeof__(capacity))-1); \
            (array) = arena_realloc((a), (array), (n) * sizeof *(array),                \
                                    (size_t)(capacity) * sizeof *(array));              \
        }                                                                               \
    } while (0)

/* Appends `item` to an array of `n` elements that grows by this macro only; yields its index. The
 * capacity is the next power of two, so that it needs no variable. */
#define ARENA_PUSH(a, array, n, item)                                                            \
    ({                                                                                           \
        size_t n_ = (n);                                                                         \
        if ((n_ & (n_ - 1)) == 0)                                                                \
            (array) =                                                                            \
                arena_realloc((a), (array), n_ * sizeof *(array),                                \
                              grow_capacity(n_, n_ + 1, 1, sizeof *(array), (__typeof__(n))-1) * \
                                  sizeof *(array));                                              \
        (array)[n_] = (item);                                                                    \
        (n)++;                                                                                   \
    })
