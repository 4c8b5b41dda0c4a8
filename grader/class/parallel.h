/* parallel.h — the same work on many items, each in a process of its own, several at a time. What a process leaves is
 * handed over in the order of the items, whatever order they end in; one that crashes is reported as such. */
#pragma once
#include "common/buf.h"
#include "common/err.h"

#include <stdbool.h>

/* In the child: does item `i`, leaves its answer in `out`. */
typedef void parallel_work(void *user, unsigned i, struct buf *out);
/* In the parent, once for each item, in order. `ok` is false where the child died. */
typedef void parallel_done(void *user, unsigned i, bool ok, const char *data, size_t size);

unsigned parallel_jobs(unsigned wanted); /* 0 = one for each core */
bool parallel_run(unsigned n, unsigned jobs, parallel_work *work, parallel_done *done, void *user, struct err *e);
