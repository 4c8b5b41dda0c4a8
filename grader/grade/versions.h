/* versions.h — the book's own versions of an exercise as they are shown beside a submission: naive,
 * the steps of the ladder, the answer. Each is run once for each build of the grader and kept in
 * the cache. */
#pragma once
#include "grader/grade/result.h"

struct version {
    char name[64];         /* "naive", "2-tile", "answer" */
    struct result result;  /* lines, accesses, times alone */
    double us, counted_us; /* modelled, at the size that is timed and at the one that is counted; 0
                              = not known */
};

/* The list ends after `n`; to be freed. `trouble` says what could not be run. */
struct version *version_list(const struct exercise *ex, const struct gpu_device *d,
                             unsigned workers, unsigned *n, struct buf *errors);
void version_free(struct version *list, unsigned n);
const struct version *version_find(const struct version *list, unsigned n, const char *name);
