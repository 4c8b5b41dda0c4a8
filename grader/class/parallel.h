/* parallel.h — the same work on many items, each in a process of its own, several at a time. An
 * item's answer is handed over as soon as it is there, in any order; one whose process crashed is
 * reported as such. What is held at a time is that of `jobs` items, however many there are. */
#pragma once
#include "common/buf.h"
#include "common/err.h"

#include <stdbool.h>

enum parallel_status { PARALLEL_ITEM, PARALLEL_END, PARALLEL_FAILED };
struct parallel_ops {
    /* In the parent: the next item goes into place `slot`, 0 to jobs - 1. */
    enum parallel_status (*next_item)(void *user, unsigned slot, struct err *e);
    /* In the child: does it, leaves the answer in `out`. */
    void (*run_item)(void *user, unsigned slot, struct buf *out);
    /* In the parent, once for each item. `ok` is false where the child died. False: begin nothing
     * more. */
    bool (*item_done)(void *user, unsigned slot, bool ok, const char *data, size_t size,
                      struct err *e);
    void *user;
};

unsigned parallel_job_count(unsigned requested); /* 0 = one for each core */
bool parallel_run(unsigned jobs, const struct parallel_ops *p, struct err *e);
