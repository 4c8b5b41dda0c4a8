/* grade_many.h — grades many files, several at a time, each in a process of its own; results come
 * in the order given. */
#pragma once
#include "grader/grade/grade.h"

struct grade_item {
    const struct exercise *ex;
    const char *name;         /* as the student knows the file */
    const struct buf *source; /* NULL: `path` is read */
    const char *path;
    bool skip_timing; /* leave timing out, whatever the options say */
    bool trusted;     /* see struct grade_options */
    const struct grading_policy *policy;
};
/* `results` has room for `n`; each is the caller's to free. An item whose process died is V_IE. */
bool class_grade_many(const struct grade_item *items, unsigned n, unsigned jobs,
                      const struct grade_options *o, struct result *results, struct err *e);
