/* assignment_draw.h — which variant of an assignment's exercises each student has.
 *
 * With a table [variants], students get one of `count` variants, the same number in all exercises
 * that have `varied = true`. The number depends on the secret seed and the student's id, or the
 * group's name: a student who joins later changes nobody else's. `grader vary` writes the copies of
 * the book, FOLDER/1 to FOLDER/count, and FOLDER/variants.csv, which says who has which. That file
 * counts, so an instructor may change a number there; only students that it lacks are drawn from
 * the seed again. */
#pragma once
#include "grader/class/assignment.h"
#include "grader/class/roster.h"

/* Returns the number, 1 to count, that the seed gives to a student; `group` is "" for none. */
unsigned assignment_draw_number(const struct assignment *a, const char *id, const char *group);
/* Sets `out` to the path of a copy. */
void assignment_draw_copy(const struct assignment *a, unsigned number, char out[4096]);
/* Writes FOLDER/variants.csv for the students of the roster. */
bool assignment_draw_write(const struct assignment *a, const struct roster *r, struct err *e);
/* Saves the number of each student of the store. */
bool assignment_draw_save(const struct assignment *a, struct store *s, struct err *e);
/* Returns how many pairs of a failing submission and another variant have no result yet; -1 =
 * error. */
long long assignment_draw_count_unchecked(const struct assignment *a, struct store *s,
                                          struct err *e);
/* The verdicts of a submission that may be another variant's solution, for SQL. */
#define ASSIGNMENT_DRAW_FAILURES "('WA', 'RTE', 'TLE', 'MLE')"
