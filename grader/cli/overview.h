/* overview.h — `grader run` without a name: which files it grades, and what it says of the others.
 *
 * Untouched files would all get 0 points, after minutes of compiling. So it grades the edited files
 * only, and lists the others by chapter as not started. While nothing is edited, it grades one
 * exercise as delivered and its model solution, as an example. */
#pragma once
#include "grader/cli/options.h"
#include "grader/grade/result.h"
#include "grader/report/report.h"

struct selection {
    const struct exercise **list; /* to grade; ends with NULL */
    const struct exercise **unstarted;
    unsigned n, nunstarted;
    bool is_overview; /* without a name: `unstarted` is to be listed */
};

/* Selects the exercises that the operands name. Without operands it selects the edited ones, if the
 * report can list the others; with --all, all. Free it with selection_free(), also after an error.
 */
bool select_files(const struct options *o, struct selection *s, struct err *e);
void selection_free(struct selection *s);
/* Appends the chapters, an example if nothing was graded, and what to type next. Returns the exit
 * status: `status`, or that of a failed example. */
int overview_write(const struct options *o, const struct gpu_device *d, const struct selection *s,
                   const struct result *results, const struct report_style *style, int status,
                   struct buf *out);
