/* grow.h — arrays that double when they are full, so that a million additions copy each element
 * about once. */
#pragma once
#include "common/err.h"

#include <stddef.h>

/* The capacity, in elements of `size` bytes, that holds `need` of them: `capacity`, or `first`
 * where that is 0, doubled as often as it takes. Ends the program where that is more than `most`,
 * or its bytes more than a size_t tells. */
size_t grow_capacity(size_t capacity, size_t required, size_t initial_capacity, size_t size,
                     size_t max_capacity);

/* Makes room for `need` elements in `array`, which came from here or is NULL with a capacity of 0.
 * `capacity` is an unsigned lvalue of any width. */
#define GROW(array, need, capacity, first)                                              \
    do {                                                                                \
        size_t need_ = (need);                                                          \
        if (need_ > (capacity)) {                                                       \
            (capacity) = (__typeof__(capacity))grow_capacity(                           \
                (capacity), need_, (first), sizeof *(array), (__typeof__(capacity))-1); \
            (array) = xrealloc((array), (size_t)(capacity) * sizeof *(array));          \
        }                                                                               \
    } while (0)
