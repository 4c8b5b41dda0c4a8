/* side_by_side.h — the speeds of one run on several devices in one table: what a technique gains
 * depends on them. */
#pragma once
#include "common/buf.h"
#include "grader/grade/result.h"
#include "grader/sim/timing/timing.h"

/* Adds the results of one device; `rows` grows. */
void report_side_by_side_add(struct buf *rows, const struct gpu_device *d,
                             const struct result *results, unsigned n);
/* The table, from what was added. */
void report_side_by_side_write(const struct buf *rows, struct buf *out);
