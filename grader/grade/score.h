/* score.h — the arithmetic of points: correctness is a gate, goals and guards make the technique points, the
 * ratio to the model answer makes the speed points; and what is missing, with the reason. */
#pragma once
#include "grader/grade/result.h"

/* Full speed points from this ratio to the model answer's speed on: what lies above is within a measurement's
 * noise. */
#define SCORE_FULL_SPEED 0.95

/* Each goal reached earns its share of `full`, 1/goals; each guard that fails takes as much away, down to
 * nothing: a fault that is traded for another earns nothing, and more guards do not make each of them cheaper. */
double score_technique(double full, const struct check_counts *n);
double score_speed(double full, double vs_solution);

/* A correct result: points, score, verdict AC or PART, and what is missing. Without a measured time the speed
 * points are left out and the rest is scaled, unless a modelled one counts; where it would and the submission has seen to it
 * that there is none (speed.forfeit), they are lost. */
void score_points(struct result *r, bool count_modelled);
/* Any other: nothing, or no score known. Sets what is missing from the verdict. */
void score_nothing(struct result *r);

/* The naive version's technique results against the rule: goals fail on it, guards hold on it, and there is a
 * goal. False: `why` names the check, a line for each. */
bool score_rule(const struct result *naive, struct buf *why);
