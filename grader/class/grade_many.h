/* grade_many.h — grades many files, several at a time, each in a process of its own; returns the
 * results in the order of the items. The commands `run` and `verify` call it, too. */
#pragma once
#include "grader/grade/grade.h"

struct grade_item {
    const struct exercise *ex;
    const char *name;         /* of the file, as the student knows it: for messages */
    const struct buf *source; /* NULL = read `path` */
    const char *path;
    bool skip_timing; /* overrides the options */
    bool trusted;     /* see struct grade_options */
    const struct grading_policy *policy;
};
/* Grades the items, `jobs` at a time; 0 = as many as there are cores. `results` has `n` elements;
 * the caller frees each with result_free. An item whose process died gets V_IE (internal error).
 * Calls o->progress whenever an item is finished, with the name of the one that starts next. */
bool class_grade_many(const struct grade_item *items, unsigned n, unsigned jobs,
                      const struct grade_options *o, struct result *results, struct err *e);
