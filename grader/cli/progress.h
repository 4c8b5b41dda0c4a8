/* progress.h — what a student has reached in each exercise, in progress/ below paths_state_dir():
 * the last verdict, hints seen. */
#pragma once
#include "common/exercise.h"
#include "grader/grade/result.h"
#include "grader/report/report.h"

struct progress {
    char verdict[16]; /* "" = never graded */
    double score;
    unsigned hint_count; /* shown so far */
};
/* The student's file is the one that the book came with. */
bool progress_is_unmodified(const struct exercise *ex);
/* How many exercises are passed; the first that is not, NULL = none. */
unsigned progress_count_passed(const struct exercise **next);
void progress_load(const struct exercise *ex, struct progress *p);
void progress_save(const struct exercise *ex, const struct progress *p);
/* The last gradings of the student's own file, the oldest first: at most `room`. */
unsigned progress_history(const struct exercise *ex, struct report_history_entry *out,
                          unsigned capacity);
void progress_record(const struct result *r); /* the student's own file was graded */
