/* arena.h — memory that is given back all at once: what a parser or a decoder builds. */
#pragma once
#include "common/grow.h"

#include <stdbool.h>
#include <stddef.h>

struct arena {
    struct arena_chunk *last;
    bool shared; /* with processes that are forked from now on: what they write is seen here */
};

/* Zeroed memory, aligned to 64 bytes for sizes from 64 on, else to 16; never NULL. */
void *arena_alloc(struct arena *a, size_t bytes);
char *arena_strndup(struct arena *a, const char *s, size_t n);
/* Frees everything; the arena is empty and usable again. A zeroed arena is an empty one. */
void arena_free(struct arena *a);

/* Of a shared arena: processes that are forked from now on do not get what it has so far. */
void arena_set_dontfork(const struct arena *a);

/* `used` bytes of `old`, moved to a place of `bytes`. */
void *arena_realloc(struct arena *a, const void *old, size_t used, size_t bytes);

#define arena_new(a, type)      ((type *)arena_alloc((a), sizeof(type)))
#define arena_array(a, type, n) ((type *)arena_alloc((a), sizeof(type) * (size_t)(n)))

/* Makes room for `need` elements in `array`, whose first `n` are in use; as GROW in grow.h. */
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

/* Adds `item` behind the `n` elements of an array that only this adds to, and gives its index. The
 * room is the least power of two, which need not be kept. */
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
