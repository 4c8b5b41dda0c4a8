/* ladder_points.h — holds the points and reports of a ladder's steps to the lesson, for
 * `grader verify`: no step costs points against the one before, and the report of a step that
 * reaches all goals says which idea it lacks and which lesson teaches it. */
#pragma once
#include "common/buf.h"
#include "grader/grade/result.h"

#include <stdbool.h>

/* Modelled times that differ by less than this factor don't tell which version is faster: of the
 * book's steps that the model has slower by up to 2.1 %, an H100 and an H200 measure half as
 * faster (docs/results/h100). */
#define LADDER_TIME_RESOLUTION 1.03

/* Returns true if `step` has as many points as `before`, or lacks no more than what
 * LADDER_TIME_RESOLUTION is worth. Otherwise appends a line to `problems`. */
bool ladder_keeps_points(const struct result *step, const struct result *before,
                         struct buf *problems);
/* Returns true if the result loses no speed points, misses a goal, fails a guard, or names an idea
 * and an existing heading of a lesson. Otherwise appends a line to `problems`. */
bool ladder_names_idea(const struct result *step, struct buf *problems);
