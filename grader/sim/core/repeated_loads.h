/* repeated_loads.h — loads of shared memory whose patterns stay the same: native code counts them
 * once for many runs.
 *
 * Native code runs a straight piece of code (a *chunk*) many times, mostly with the patterns of
 * last time. Each worker remembers a chunk's patterns with their counts once they are verified, and
 * then counts only the runs. The sum of the patterns' serial numbers shows whether they are still
 * the same, since a serial number only grows. The counts are added to the statistics before
 * anything reads these. */
#pragma once
#include "grader/sim/core/core.h"

/* A load of a chunk; the generated code has tables of these. Its group: loads whose addresses are a
 * constant apart, `delta` bytes above the group's lowest. */
struct repeated_load {
    u32 op, stat, group, delta;
    bool is_counted; /* false: it was merged into another load */
};

/* What a worker remembers of a chunk. */
struct repeated_loads {
    struct repeated_loads *next; /* of the worker */
    const struct repeated_load *loads;
    u32 n;
    u32 serials, mask; /* sum of the patterns' serial numbers; lanes of the remembered patterns */
    u64 runs;          /* not added to the statistics yet */
    struct pattern_cost {
        u32 lanes, wavefronts, min_wavefronts, max_multiplicity;
    } cost[];
};

/* Remembers the patterns of a chunk, which the caller has compared with its addresses. Returns what
 * the worker then knows of the chunk. */
struct repeated_loads *core_remember_loads(struct exec *x, const struct repeated_load *loads, u32 n,
                                           u32 serials, u32 mask);
/* Adds what the worker's chunks have counted to its statistics. */
void core_count_repeated_loads(struct worker *k);
void core_free_repeated_loads(struct worker *k);
