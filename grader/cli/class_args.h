/* class_args.h — what the commands for a class share: its intake, grading it, writing the
 * gradebook. */
#pragma once
#include "common/file.h"
#include "grader/class/class.h"
#include "grader/class/export.h"
#include "grader/cli/commands.h"

/* Reads the assignment of --assignment, or else the one that the store `s` was graded with, into
 * `a`; `s` may be NULL. `out` becomes the options, with the assignment's device, seed, roster and
 * rules where the command line gives none. Returns false if the assignment can't be read. */
bool cli_class_assignment(const struct options *o, struct store *s, struct assignment *a,
                          struct options *out, struct err *e);
/* Returns the exercises of --exercise, else those of the assignment, else all. The list ends with
 * NULL; the caller frees it. */
const struct exercise **cli_class_list(const struct options *o, struct err *e);
/* Takes the submissions of the paths on the command line into the store. `*entry_count` becomes the
 * number of entries that it examined. */
bool cli_class_intake(const struct options *o, struct store *s, const struct exercise *const *list,
                      unsigned *entry_count, struct err *e);
/* Grades what the store lacks. It shows progress, and warns about a compiler that the book was not
 * verified with. */
bool cli_class_grade(const struct options *o, struct store *s, const char *seed,
                     bool keep_gradebook, struct err *e);
bool cli_class_export(const struct options *o, struct store *s, FILE *f, struct err *e);
/* Returns the exit status: 3 if a result is IE, 1 if not all are AC, else 0. */
int cli_class_exit_status(struct store *s, struct err *e);
/* Opens the store that the first operand names. `usage` describes the operands, of which at least
 * `min_names` are needed. */
bool cli_class_open(const struct options *o, unsigned min_names, const char *usage, struct store *s,
                    struct err *e);
