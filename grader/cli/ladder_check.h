/* ladder_check.h — the counters that a ladder's text publishes for its steps. */
#pragma once
#include "common/buf.h"
#include "grader/sim/sim.h"

#include <stdbool.h>

/* A ladder has one table whose head is "| counter | STEP | … | answer |" and whose rows are "|
 * `key` | value | … |". True if it has a column for `step` and each of its values equals `c`'s
 * counter of that key; else `why` says, one line for each difference, what is missing or what was
 * published and counted. */
bool ladder_counters_agree(const char *ladder, const char *step, const struct sim_counters *c,
                           struct buf *problems);
