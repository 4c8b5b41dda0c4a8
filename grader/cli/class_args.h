/* class_args.h — what the commands for a class have in common: reading it in, grading it, writing
 * the gradebook. */
#pragma once
#include "common/file.h"
#include "grader/class/class.h"
#include "grader/class/export.h"
#include "grader/cli/commands.h"

/* Reads --assignment, or without it the one that the store was graded by (`s` may be NULL), into
 * `a`; `out` are the options with the device, seed, roster and rules that it says, where the
 * command line does not. False: it can't be read. */
bool cli_class_assignment(const struct options *o, struct store *s, struct assignment *a,
                          struct options *out, struct err *e);
/* The exercises of --exercise, those of the assignment, or all of them without; NULL-terminated, to
 * be freed. */
const struct exercise **cli_class_list(const struct options *o, struct err *e);
/* The paths into the store. `*seen`: entries that were looked at. */
bool cli_class_intake(const struct options *o, struct store *s, const struct exercise *const *list,
                      unsigned *entry_count, struct err *e);
/* With a progress line, and a warning where the compiler is one that nobody tried the book with. */
bool cli_class_grade(const struct options *o, struct store *s, const char *seed,
                     bool keep_gradebook, struct err *e);
bool cli_class_export(const struct options *o, struct store *s, FILE *f, struct err *e);
/* 3 where a result is IE, 1 where not all are AC, else 0. */
int cli_class_exit_status(struct store *s, struct err *e);
/* Opens the store that a command names first; an exit status where it can't, else -1. */
bool cli_class_open(const struct options *o, unsigned min_names, const char *usage, struct store *s,
                    struct err *e);
