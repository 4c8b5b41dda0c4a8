/* ladder_check.h — checks the counters that a ladder's text publishes, for `grader verify`. */
#pragma once
#include "common/buf.h"
#include "grader/sim/sim.h"

#include <stdbool.h>

/* Returns true if the ladder's table has a column for `step` and each of its values equals `c`'s
 * counter of that key. Otherwise it appends a line to `problems` for each difference. The table's
 * head is "| counter | STEP | … | solution |", its rows are "| `key` | value | … |". */
bool ladder_counters_agree(const char *ladder, const char *step, const struct sim_counters *c,
                           struct buf *problems);
