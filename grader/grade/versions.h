/* versions.h — the book's own versions of an exercise, which reports show next to a submission: the
 * baseline, the steps of the ladder, the model solution. Each is run once for each build of the
 * grader and kept in the cache. */
#pragma once
#include "grader/grade/result.h"

struct version {
    char name[64];         /* "naive" (the baseline), "2-tile", "solution" (the model solution) */
    struct result result;  /* only lines, accesses and times */
    double us, counted_us; /* modelled, at the timed and at the technique size; 0 = unknown */
};

/* Returns a list of `n` versions; free it with version_free(). Appends to `errors` what could not
 * be run. */
struct version *version_list(const struct exercise *ex, const struct gpu_device *d,
                             unsigned workers, unsigned *n, struct buf *errors);
void version_free(struct version *list, unsigned n);
const struct version *version_find(const struct version *list, unsigned n, const char *name);
