/* clock.h — a monotonic clock for deadlines and durations; its zero has no meaning. */
#pragma once
#include <stdint.h>
#include <time.h>

static inline uint64_t clock_nanoseconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static inline double clock_seconds(void) { return 1e-9 * (double)clock_nanoseconds(); }
