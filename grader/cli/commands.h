/* commands.h — the grader's commands; each returns the exit status. */
#pragma once
#include "grader/book/book.h"
#include "grader/cli/options.h"
#include "grader/report/report.h"

/* X(name, needs a jail that holds) */
/* clang-format off */
#define COMMANDS(X)                                                                                                             \
    X(list, false) X(intake, true) X(export, false) X(stats, false) X(feedback, false) X(reproduce, true) X(regrade, true)      \
        X(merge, false) X(gradescope, false) X(autograde, true) X(similar, true)                                                                                                         \
    X(run, true) X(profile, true) X(hint, false) X(solution, false) X(reset, false) X(watch, true) X(report, true) X(tune, true) X(vendor, true)              \
        X(batch, true) X(verify, true) X(selftest, true) X(gpu_report, true) X(gpu_build, true) X(new, false) X(quiz, false)
/* clang-format on */
#define X(name, jail) int cmd_##name(const struct options *o);
COMMANDS(X)
#undef X

/* ---- shared by commands ---- */

/* Reports an error on standard error; returns the exit status that goes with its kind. */
int cli_complain(const struct err *e);
/* The exercises that the names mean, all of them if there are none; NULL-terminated, to be freed. */
const struct exercise **cli_chosen(const struct options *o, struct err *e);
/* The one exercise that is named; NULL with an error otherwise. */
const struct exercise *cli_chosen_one(const struct options *o, struct err *e);
struct report_style cli_style_for(int fd);
/* A line on the terminal that later output overwrites; nothing where standard error is none. */
void progress_show(void *user, const char *step); /* user: the exercise's id */
void progress_line(const char *text);             /* the same, one text */
void progress_clear(void);
void progress_fit(const char *text, unsigned columns, struct buf *out); /* cut to so many columns, appended */
/* To --output, atomically, or to standard output. */
bool cli_deliver(const struct options *o, const struct buf *text, struct err *e);
/* What `grader run` does, the report appended to `text`; false: an error, else the exit status. */
bool cli_run(const struct options *o, struct buf *text, int *status, struct err *e);
/* 0 where all passed, 3 where one could not be graded, else 1. */
int cli_exit_status(const struct result *results, unsigned n);
unsigned cli_hint_count(const char *text); /* hints in the text of NAME.md, numbered from 1 without a gap */
/* The file that the student edits. */
const char *cli_student_file(const struct options *o, const struct exercise *ex);
