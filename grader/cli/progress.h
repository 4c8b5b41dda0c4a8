/* progress.h — what a student has reached in each exercise, in build/progress: the last verdict, hints seen. */
#pragma once
#include "common/exercise.h"
#include "grader/grade/result.h"

struct progress {
    char verdict[16]; /* "" = never graded */
    double score;
    unsigned hints; /* shown so far */
};
void progress_load(const struct exercise *ex, struct progress *p);
void progress_save(const struct exercise *ex, const struct progress *p);
void progress_note(const struct result *r); /* the student's own file was graded */
