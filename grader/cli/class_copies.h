/* class_copies.h — grading a class with drawn variants (assignment_draw.h). Each copy of the book
 * has a grader of its own, which grades the students of its variant into the same store. The book's
 * own grader starts them; in a copy, these functions start nothing. */
#pragma once
#include "grader/cli/class_args.h"

/* Returns true if this grader starts those of copies for the assignment. */
bool cli_copies_are_used(const struct options *o);
/* Runs `command`, batch or regrade --diff, in each copy. batch also checks whether a submission
 * that fails its variant solves another one. `has_failed`, if not NULL, becomes true if a status
 * was 1. */
bool cli_copies_run(const struct options *o, struct store *s, const char *command, const char *seed,
                    bool *has_failed, struct err *e);
/* Replaces this program by the grader of the student's copy, with the same operands, if the
 * exercise is varied. Returns false if that fails, true if there is nothing to replace. */
bool cli_copies_forward(const struct options *o, struct store *s, const char *student,
                        const struct exercise *ex, struct err *e);
