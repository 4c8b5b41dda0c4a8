/* progress.h — a student's progress in each exercise: the last verdict and score, the hints seen,
 * the history of runs. Its files are in progress/ below paths_state_dir(). */
#pragma once
#include "common/exercise.h"
#include "grader/grade/result.h"
#include "grader/report/report.h"

struct progress {
    char verdict[16]; /* "" = never graded */
    double score;
    unsigned hint_count; /* shown so far */
};
/* Returns true if the student's file equals the starter file. */
bool progress_is_unmodified(const struct exercise *ex);
/* Returns the number of accepted exercises. `*next`: the first that isn't accepted; NULL = none. */
unsigned progress_count_passed(const struct exercise **next);
void progress_load(const struct exercise *ex, struct progress *p);
void progress_save(const struct exercise *ex, const struct progress *p);
/* Copies the latest runs of the student's own file, at most `capacity`, the oldest first; returns
 * their number. */
unsigned progress_history(const struct exercise *ex, struct report_history_entry *out,
                          unsigned capacity);
/* Records a result of the student's own file, unless it is IE or of a single case. */
void progress_record(const struct result *r);
