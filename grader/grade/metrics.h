/* metrics.h — figures that technique checks limit: any counter, or a metric of metrics.def; and the
 * line to blame. */
#pragma once
#include "grader/server/launch_stats.h"

#include <stdbool.h>

struct metric;                                      /* static data */
const struct metric *metric_find(const char *name); /* NULL if unknown */
double metric_value(const struct metric *m, const struct launch_stats *t);
/* The line that pushes the metric furthest over an upper limit (or under a lower one), else the one
 * with the largest share; lines of `file` come first. NULL where no line has any part in it. `per`
 * divides the value, as in "stores per output element"; 1 = as it is. */
const struct launch_stats_line *metric_line(const struct metric *m, const struct launch_stats *t,
                                            const char *file, double per, double limit,
                                            bool is_upper_limit);
