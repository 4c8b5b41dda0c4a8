/* grow.c — see grow.h. */
#include "common/grow.h"

#include <stdint.h>

size_t grow_capacity(size_t capacity, size_t required, size_t initial_capacity, size_t size,
                     size_t max_capacity) {
    size_t n = capacity ? capacity : initial_capacity,
           limit = SIZE_MAX / size < max_capacity ? SIZE_MAX / size : max_capacity;
    while (n < required) {
        if (n > limit / 2) die("array too large: %zu elements of %zu bytes", required, size);
        n *= 2;
    }
    if (n > limit) die("array too large: %zu elements of %zu bytes", n, size);
    return n;
}
