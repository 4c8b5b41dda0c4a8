/* clock.h — a monotonic clock for deadlines and durations, and the processor time of a thread;
 * their zeros have no meaning. */
#pragma once
#include <stdint.h>
#include <time.h>

static inline uint64_t clock_read(clockid_t clock) {
    struct timespec t;
    clock_gettime(clock, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static inline uint64_t clock_nanoseconds(void) { return clock_read(CLOCK_MONOTONIC); }

static inline double clock_seconds(void) { return 1e-9 * (double)clock_nanoseconds(); }

/* The calling thread's processor time: a limit on it does not depend on the machine's load. */
static inline double clock_thread_seconds(void) {
    return 1e-9 * (double)clock_read(CLOCK_THREAD_CPUTIME_ID);
}
