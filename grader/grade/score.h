/* score.h — the arithmetic of points: correctness is a gate; goals, guards and speed make the
 * points; and what is missing, with the reason.
 *
 * A goal earns its share of the technique points in proportion to the way that is done between the
 * naive version's figure and the limit, on a logarithmic scale. Speed earns its share with the
 * logarithm of time, between the naive version's and 1 / SCORE_FULL_SPEED of the model answer's. So
 * the naive version has 0 of both by construction, whatever it is, and what it does right earns
 * nothing. */
#pragma once
#include "grader/grade/result.h"

/* Full speed points from this ratio to the model answer's speed on: what lies above is within a
 * measurement's noise and the model's error for versions alike. */
#define SCORE_FULL_SPEED 0.9
/* Where the answer gains less than this factor over the naive version, what is between them is
 * little more than that error: speed is left out. */
#define SCORE_MIN_SPEEDUP 1.2
/* A version that is faster than the model answer by this factor has reached what the goals are
 * there for. Above the median error of modelled speedups on rows that the model was not fitted on,
 * 17 % (docs/time-model.md). Measured: the interval decides. */
#define SCORE_WAIVE_SPEEDUP 1.25

/* The way that a figure has gone, 0 to 1: 1 where the limit is met. A limit that the naive version
 * meets is a condition: it costs where it is missed, half of the way at once, all of it from
 * SCORE_CONDITION_RANGE times the limit on. */
#define SCORE_CONDITION_RANGE 16.0
double score_goal_progress(const struct technique_result *t);

/* Each goal earns its way's part of its share of `full`, 1/goals; each guard that fails takes a
 * whole share away, down to nothing: a fault that is traded for another earns nothing, and more
 * guards do not make each of them cheaper. */
double score_technique(double full, const struct check_counts *n);
/* `gain`: the answer's speed over the naive version's. */
double score_speed(double full, double vs_solution, double solution_speedup);

/* A correct result: points, score, verdict AC or EXERCISE_FIELD, and what is missing. Where speed
 * does not count (none is known, a modelled one is left out, nothing is to gain), the rest is
 * scaled; where the submission has seen to it that there is no time (speed.forfeit), its points are
 * lost. */
void score_points(struct result *r, bool count_modelled);
/* Any other: nothing, or no score known. Sets what is missing from the verdict. */
void score_incorrect(struct result *r);

/* The naive version's technique results against the rule: goals fail on it, guards hold on it, and
 * there is a goal. False: `why` names the check, a line for each. */
bool score_check_rule(const struct result *baseline, struct buf *reason);
