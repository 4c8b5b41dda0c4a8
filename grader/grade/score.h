/* score.h — computes the points of a result: correctness is a gate; goals, guards and speed earn
 * points. It also lists the points lost, with reasons.
 *
 * A goal earns its share of the technique points in proportion to its progress: the distance
 * covered from the baseline's value to the limit, on a logarithmic scale. Speed earns its share
 * with the logarithm of time, from the baseline's time to 1 / SCORE_FULL_SPEED of the model
 * solution's. So the baseline gets 0 points for both by construction, and what it does right
 * already earns nothing. */
#pragma once
#include "grader/grade/result.h"

/* Speed points are full from this ratio to the model solution's speed on. Differences above it are
 * within measurement noise, and within the model's error for similar versions. */
#define SCORE_FULL_SPEED 0.9
/* If the model solution gains less than this factor over the baseline, their difference is little
 * more than the model's error, and speed doesn't count. */
#define SCORE_MIN_SPEEDUP 1.2
/* A version that the model finds faster than the model solution by this factor has its missed goals
 * waived. The factor is above the median error of modelled speedups on data that the model was not
 * fitted to, 17 % (docs/time-model.md). For measured times the confidence interval decides. */
#define SCORE_WAIVE_SPEEDUP 1.25

/* Returns the progress of a limit, 0 to 1; 1 if it is met. A goal's limit that the baseline meets
 * is a condition: a miss costs half of the progress at once, and all of it from
 * SCORE_CONDITION_RANGE times the limit on. */
#define SCORE_CONDITION_RANGE 16.0
/* Returns how far a goal is reached from the baseline on, 0 to 1, on a logarithmic scale. */
double score_goal_progress(const struct technique_result *t);

/* Returns the technique points. Each goal's share is `full` / goals, earned in proportion to its
 * progress. Each failed guard costs a whole share, down to 0: trading one fault for another earns
 * nothing, and adding guards doesn't make each of them cheaper. */
double score_technique(double full, const struct check_counts *n);
/* Returns the speed points. `solution_speedup` is the model solution's speed relative to the
 * baseline. */
double score_speed(double full, double vs_solution, double solution_speedup);

/* Logarithm of the ratio of two modelled times up to which they count as they are: 1.02x. */
#define SCORE_EQUAL_LOG_RATIO 0.02

/* Returns the speed relative to the model solution's that a modelled time counts as: the highest
 * within the error of modelled ratios (ratio_error.def), so that a version loses no points by it.
 * The ratios to the model solution and to the baseline both bound it. A version that the model
 * finds no faster than the baseline counts as modelled. */
double score_counted_speed(double vs_solution, double solution_speedup);

/* Sets points, score, verdict (AC or PART) and points lost of a correct result. If speed doesn't
 * count (time unknown, modelled times excluded, or too little to gain), the other points are scaled
 * to max_score. If the submission itself prevented a time (speed.disqualified), it loses the speed
 * points. */
void score_points(struct result *r, bool count_modelled);
/* The text before the missing idea in the reason for lost speed points. */
#define SCORE_IDEA_PREFIX "to go on: "
/* Sets the score and the points lost of any other result: 0, points for correct cases, or no score.
 */
void score_incorrect(struct result *r);

/* Checks the baseline's technique results against the rule: there is a goal, the baseline fails
 * every goal and passes every guard. Returns false with one line in `reason` for each violation. */
bool score_check_rule(const struct result *baseline, struct buf *reason);
