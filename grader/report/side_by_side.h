/* side_by_side.h — one table with the speeds of a run on several devices, because the gain of a
 * technique depends on the device. */
#pragma once
#include "common/buf.h"
#include "grader/grade/result.h"
#include "grader/sim/timing/timing.h"

/* Appends the rows of one device to `rows`. */
void report_side_by_side_add(struct buf *rows, const struct gpu_device *d,
                             const struct result *results, unsigned n);
/* Appends the table of all `rows`; nothing if there are none. */
void report_side_by_side_write(const struct buf *rows, struct buf *out);
