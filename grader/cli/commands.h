/* commands.h — the grader's commands, which main.c calls. Each returns the exit status. */
#pragma once
#include "grader/book/book.h"
#include "grader/cli/options.h"
#include "common/status.h"
#include "grader/report/report.h"

/* What a command needs: a working sandbox; a workspace, unless --file is given; the source tree;
 * the model solutions, which a student's release lacks. */
enum { NEED_JAIL = 1, NEED_WORKSPACE = 2, NEED_TREE = 4, NEED_SOLUTIONS = 8 };
/* X(name, needs) */
/* clang-format off */
#define COMMANDS(X)                                                                               \
    X(begin, 0) X(list, NEED_WORKSPACE) X(run, NEED_JAIL | NEED_WORKSPACE)                        \
    X(profile, NEED_JAIL | NEED_WORKSPACE) X(hint, NEED_WORKSPACE) X(reset, NEED_WORKSPACE)       \
    X(watch, NEED_JAIL | NEED_WORKSPACE) X(report, NEED_JAIL | NEED_WORKSPACE)                    \
    X(tune, NEED_JAIL | NEED_WORKSPACE) X(quiz, 0) X(solution, NEED_SOLUTIONS)                    \
    X(vendor, NEED_JAIL | NEED_SOLUTIONS) X(intake, NEED_JAIL) X(batch, NEED_JAIL) X(export, 0)   \
    X(stats, 0) X(feedback, 0) X(reproduce, NEED_JAIL) X(regrade, NEED_JAIL) X(merge, 0)          \
    X(gradescope, NEED_TREE | NEED_SOLUTIONS) X(autograde, NEED_JAIL) X(similar, NEED_JAIL)       \
    X(verify, NEED_JAIL | NEED_TREE | NEED_SOLUTIONS) X(selftest, NEED_JAIL)                      \
    X(gpu_report, NEED_JAIL | NEED_SOLUTIONS) X(figures, NEED_JAIL | NEED_TREE | NEED_SOLUTIONS)  \
     X(gpu_build, NEED_JAIL | NEED_SOLUTIONS) X(new, NEED_TREE | NEED_SOLUTIONS) X(completion, 0)  \
     X(cache, 0) X(decide, 0) X(forget, 0) X(compare, 0) X(anonymize, 0) X(leaderboard, 0)         \
    X(serve, NEED_JAIL | NEED_WORKSPACE)                                                          \
    X(vary, NEED_JAIL | NEED_TREE | NEED_SOLUTIONS)
/* clang-format on */
#define X(name, needs) int cmd_##name(const struct options *o);
COMMANDS(X)
#undef X

/* ---- shared by commands ---- */

/* Appends the names of the commands as a user types them, separated by spaces. */
void cli_append_commands(struct buf *out);
/* Prints an error to standard error; returns the exit status for its kind. */
int cli_report_error(const struct err *e);
/* Passes each file that sets an editor up in a workspace (editor_files.c): its path there, its
 * text. */
typedef bool cli_deliver_function(void *user, const char *relative, const struct buf *text,
                                  struct err *e);
bool cli_deliver_editor_files(cli_deliver_function *deliver, void *user, struct err *e);
/* Returns the exercises that the operands name, or all of them without operands. The list ends with
 * NULL; the caller frees it. NULL with an error: a name is unknown. */
const struct exercise **cli_select_exercises(const struct options *o, struct err *e);
/* Returns the exercise that the only operand names; NULL with an error otherwise. */
const struct exercise *cli_select_exercise(const struct options *o, struct err *e);
struct report_style cli_style_for(int fd);
/* Writes `text` to the file of --output, atomically; else to o->captured_output if there is one;
 * else to standard output. */
bool cli_write_output(const struct options *o, const struct buf *text, struct err *e);
/* Does the work of `grader run`: appends the report to `text` and sets `*status`, the exit status.
 * Returns false on an error. */
bool cli_run(const struct options *o, struct buf *text, int *status, struct err *e);
/* Returns 0 if all results are AC, 3 if one is IE, else 1. */
int cli_exit_status(const struct result *results, unsigned n);
/* Appends the hint with that number of NAME.md, without its heading; false if there is none. */
bool cli_find_hint(const char *text, unsigned n, struct buf *out);
/* Returns the number of hints in the text of NAME.md, numbered from 1 without a gap. */
unsigned cli_hint_count(const char *text);
/* Returns false with an error in a release that leaves the model solutions out. */
bool cli_has_solutions(const struct options *o, struct err *e);
/* Returns the file of --file, or the one that the student edits. */
const char *cli_student_file(const struct options *o, const struct exercise *ex);
