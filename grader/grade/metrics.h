/* metrics.h — the metrics that technique checks limit: every counter, and those of metrics.def; and
 * the source line that contributes most. */
#pragma once
#include "grader/server/launch_stats.h"

#include <stdbool.h>

struct metric;                                      /* static data */
const struct metric *metric_find(const char *name); /* NULL if unknown */
double metric_value(const struct metric *m, const struct launch_stats *t);

/* Returns the line that pushes the metric furthest beyond the limit, else the one with the largest
 * share; prefers lines of `file`. NULL if no line contributes. `per` divides the value, as in
 * "stores per output element"; 1 = no division. */
const struct launch_stats_line *metric_line(const struct metric *m, const struct launch_stats *t,
                                            const char *file, double per, double limit,
                                            bool is_upper_limit);
