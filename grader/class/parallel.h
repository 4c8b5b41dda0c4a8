/* parallel.h — processes many items, each in a process of its own, up to `jobs` at a time;
 * grade_class.c and grade_many.c call it. It delivers each result as soon as the process ends, in
 * any order, and reports a crash. It holds the data of at most `jobs` items at a time. */
#pragma once
#include "common/buf.h"
#include "common/err.h"

#include <stdbool.h>

enum parallel_status { PARALLEL_ITEM, PARALLEL_END, PARALLEL_FAILED };
struct parallel_ops {
    /* In the parent: prepares the next item in `slot`, 0 to jobs - 1. */
    enum parallel_status (*next_item)(void *user, unsigned slot, struct err *e);
    /* In the child: processes the item and writes the result to `out`. */
    void (*run_item)(void *user, unsigned slot, struct buf *out);
    /* In the parent, once for each item; `ok` is false if the child died. Return false to start no
     * further item. */
    bool (*item_done)(void *user, unsigned slot, bool ok, const char *data, size_t size,
                      struct err *e);
    void *user;
    /* In the parent, about 50 times a second while items are processed; NULL = no call. Return
     * false to start no further item. */
    bool (*tick)(void *user, struct err *e);
};

/* Returns `requested`, or the number of cores if it is 0. */
unsigned parallel_job_count(unsigned requested);
/* Processes items until next_item returns PARALLEL_END. Returns false if a callback failed. */
bool parallel_run(unsigned jobs, const struct parallel_ops *p, struct err *e);
