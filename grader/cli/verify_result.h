/* verify_result.h — what a result of `grader verify` says, and whether it is what the file
 * promised. */
#pragma once
#include "grader/grade/result.h"

/* Why a result came out as it did, in one line; the next call overwrites it. */
const char *cli_failure_reason(const struct result *r);
/* The line begins with what is promised: "WA", "RTE race", "WA|RTE": a verdict or several, then
 * words of the message. */
bool cli_matches_expectation(const struct result *r, const char *line);
