/* match_files.h — matches a student's files to exercises by their names; intake_collect.c calls it.
 * A name may be in any case and any folder, and may have a browser's suffix, as "transpose (1).cu",
 * or an LMS's prefix. If two different files match equally well, neither is taken: a person
 * decides. */
#pragma once
#include "common/exercise.h"
#include "grader/class/intake.h"

struct exercise_match {
    int file_index;     /* in `files`; -1 = none */
    const char *reason; /* why none, though files match; a literal, or NULL */
};
/* `out` has one element for each exercise of `list`, which ends in NULL. Files that match no
 * exercise of the list go to in->rejections, with the reason. Files of the book's other exercises
 * need no review; they are counted in in->other_exercises. */
void match_files_to_exercises(struct intake *in, const struct exercise *const *list,
                              struct exercise_match *out);
/* Returns true for an exercise's name with the extension of another kind of text: somebody may have
 * handed in the exercise like that, because an LMS refuses .cu. */
bool match_has_wrong_extension(const char *path);
/* Returns true if the file's name is that of the exercise. */
bool match_exercise_name(const struct exercise *ex, const char *path);
/* Parses a name that Canvas gives, as "doejane_LATE_123_456_transpose.cu"; the parts point into
 * `name`. */
struct canvas_name {
    const char *student, *user, *file;
    int nstudent, nuser;
    bool is_late;
};
bool match_parse_canvas_name(const char *name, struct canvas_name *out);
/* Returns true if the names that an LMS gave show that the files are from several students. */
bool match_has_several_students(const struct intake *in);
