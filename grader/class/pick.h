/* pick.h — which of the files that a student handed in is whose exercise's. Names are read with
 * some charity: any case, a browser's "transpose (1).cu", the prefix that an LMS puts before it,
 * any folder. Where two different files could be meant, none is taken and a person decides. */
#pragma once
#include "common/exercise.h"
#include "grader/class/intake.h"

struct pick {
    int file;        /* in `files`; -1 = none */
    const char *why; /* none, and not because nothing was there; a literal, or NULL */
};
/* `out` has room for each exercise of `list`, which ends in NULL. What no exercise took goes to
 * `left` with its reason. Exercises that are not on the list are the book's all the same: their
 * files are in no doubt. */
void pick_files(struct intake *in, const struct exercise *const *list, struct pick *out);
/* Does this name mean this exercise? */
bool pick_names(const struct exercise *ex, const char *path);
/* LMS names: "doejane_LATE_123_456_transpose.cu"; true with the four parts, which point into
 * `name`. */
struct pick_lms {
    const char *student, *user, *file;
    int nstudent, nuser;
    bool late;
};
bool pick_lms_name(const char *name, struct pick_lms *out);
/* Do names like an LMS's say that this is what several students handed in? */
bool pick_is_class(const struct intake *in);
