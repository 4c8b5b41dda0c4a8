/* verify_result.h — for `grader verify`: the reason of a result, and whether a result is the one
 * that a mutant's first line expects. */
#pragma once
#include "grader/grade/result.h"

/* Returns the reason of a failure in one line, in a buffer that the next call overwrites. */
const char *cli_failure_reason(const struct result *r);
/* Returns true if the result is as `line` expects: "WA", "RTE race" or "WA|RTE", one or more
 * verdicts, then words that the message must contain. */
bool cli_matches_expectation(const struct result *r, const char *line);
