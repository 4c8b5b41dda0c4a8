/* match_files.h — which of the files that a student handed in is whose exercise's. Names are read with
 * some charity: any case, a browser's "transpose (1).cu", the prefix that an LMS puts before it,
 * any folder. Where two different files could be meant, none is taken and a person decides. */
#pragma once
#include "common/exercise.h"
#include "grader/class/intake.h"

struct exercise_match {
    int file_index;     /* in `files`; -1 = none */
    const char *reason; /* none, and not because nothing was there; a literal, or NULL */
};
/* `out` has room for each exercise of `list`, which ends in NULL. What no exercise took goes to
 * `left` with its reason. Exercises that are not on the list are the book's all the same: their
 * files are in no doubt. */
void match_files_to_exercises(struct intake *in, const struct exercise *const *list,
                              struct exercise_match *out);
/* Does this name mean this exercise? */
bool match_exercise_name(const struct exercise *ex, const char *path);
/* LMS names: "doejane_LATE_123_456_transpose.cu"; true with the four parts, which point into
 * `name`. */
struct lms_name {
    const char *student, *user, *file;
    int nstudent, nuser;
    bool is_late;
};
bool parse_lms_name(const char *name, struct lms_name *out);
/* Do names like an LMS's say that this is what several students handed in? */
bool match_has_several_students(const struct intake *in);
