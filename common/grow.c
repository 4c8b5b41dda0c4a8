/* grow.c — see grow.h. */
#include "common/grow.h"

#include <stdint.h>

size_t grow_capacity(size_t capacity, size_t need, size_t first, size_t size, size_t most) {
    size_t n = capacity ? capacity : first, limit = SIZE_MAX / size < most ? SIZE_MAX / size : most;
    while (n < need) {
        if (n > limit / 2) die("an array of %zu elements of %zu bytes", need, size);
        n *= 2;
    }
    if (n > limit) die("an array of %zu elements of %zu bytes", n, size);
    return n;
}
