/* grow.h — arrays that double when they are full, so that a million additions copy each element
 * about once. */
#pragma once
#include "common/err.h"

#include <stddef.h>

/* Returns a capacity, in elements of `size` bytes, that holds `required` elements: `capacity`, or
 * `initial_capacity` if that is 0, doubled as often as necessary. Calls die() if it exceeds
 * `max_capacity`, or if its bytes exceed SIZE_MAX. */
size_t grow_capacity(size_t capacity, size_t required, size_t initial_capacity, size_t size,
                     size_t max_capacity);

/* Grows `array` to at least `need` elements. It is NULL with a capacity of 0 at first. `capacity`
 * is an unsigned lvalue of any width. */
#define GROW(array, need, capacity, first)                                              \
    do {                                                                                \
        size_t need_ = (need);                                                          \
        if (need_ > (capacity)) {                                                       \
            (capacity) = (__typeof__(capacity))grow_capacity(                           \
                (capacity), need_, (first), sizeof *(array), (__typeof__(capacity))-1); \
            (array) = xrealloc((array), (size_t)(capacity) * sizeof *(array));          \
        }                                                                               \
    } while (0)
