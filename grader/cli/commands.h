/* commands.h — the grader's commands; each returns the exit status. */
#pragma once
#include "grader/book/book.h"
#include "grader/cli/options.h"
#include "grader/report/report.h"

/* What a command needs: a jail that holds; a folder of the student's to work in, unless --file is
 * given; the source tree; the answers, which a student's release lacks. */
enum { NEED_JAIL = 1, NEED_WORKSPACE = 2, NEED_TREE = 4, NEED_SOLUTIONS = 8 };
/* X(name, needs) */
/* clang-format off */
#define COMMANDS(X)                                                                                                             \
    X(begin, 0) X(list, NEED_WORKSPACE) X(run, NEED_JAIL | NEED_WORKSPACE) X(profile, NEED_JAIL | NEED_WORKSPACE) X(hint, NEED_WORKSPACE)           \
    X(reset, NEED_WORKSPACE) X(watch, NEED_JAIL | NEED_WORKSPACE) X(report, NEED_JAIL | NEED_WORKSPACE) X(tune, NEED_JAIL | NEED_WORKSPACE)         \
    X(quiz, 0) X(solution, NEED_SOLUTIONS) X(vendor, NEED_JAIL | NEED_SOLUTIONS)                                                                                        \
    X(intake, NEED_JAIL) X(batch, NEED_JAIL) X(export, 0) X(stats, 0) X(feedback, 0) X(reproduce, NEED_JAIL)                    \
    X(regrade, NEED_JAIL) X(merge, 0) X(gradescope, NEED_TREE | NEED_SOLUTIONS) X(autograde, NEED_JAIL) X(similar, NEED_JAIL)     \
    X(verify, NEED_JAIL | NEED_TREE | NEED_SOLUTIONS) X(selftest, NEED_JAIL) X(gpu_report, NEED_JAIL | NEED_SOLUTIONS)              \
    X(figures, NEED_JAIL | NEED_TREE | NEED_SOLUTIONS) X(gpu_build, NEED_JAIL | NEED_SOLUTIONS) X(new, NEED_TREE | NEED_SOLUTIONS)
/* clang-format on */
#define X(name, needs) int cmd_##name(const struct options *o);
COMMANDS(X)
#undef X

/* ---- shared by commands ---- */

/* Reports an error on standard error; returns the exit status that goes with its kind. */
int cli_report_error(const struct err *e);
/* The exercises that the names mean, all of them if there are none; NULL-terminated, to be freed.
 */
const struct exercise **cli_select_exercises(const struct options *o, struct err *e);
/* The one exercise that is named; NULL with an error otherwise. */
const struct exercise *cli_select_exercise(const struct options *o, struct err *e);
struct report_style cli_style_for(int fd);
/* A line on the terminal that later output overwrites; nothing where standard error is none. */
void status_show(void *user, const char *step); /* user: the exercise's id */
void status_print(const char *text);            /* the same, one text */
void status_clear(void);
void status_truncate(const char *text, unsigned columns,
                     struct buf *out); /* cut to so many columns, appended */
/* To --output, atomically, or to standard output. */
bool cli_write_output(const struct options *o, const struct buf *text, struct err *e);
/* What `grader run` does, the report appended to `text`; false: an error, else the exit status. */
bool cli_run(const struct options *o, struct buf *text, int *status, struct err *e);
/* 0 where all passed, 3 where one could not be graded, else 1. */
int cli_exit_status(const struct result *results, unsigned n);
unsigned
cli_hint_count(const char *text); /* hints in the text of NAME.md, numbered from 1 without a gap */
/* False, and says so, in a release that leaves the answers out. */
bool cli_has_solutions(const struct options *o, struct err *e);
/* The file that the student edits. */
const char *cli_student_file(const struct options *o, const struct exercise *ex);
