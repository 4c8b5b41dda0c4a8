/* reading_path.h — paths through the book: selections of exercises in an order, for one kind of
 * reader; and a plan for each exercise, its minutes and prerequisites. chapters/paths.def has both.
 */
#pragma once
#include "common/buf.h"
#include "common/err.h"
#include "common/exercise.h"

#include <stdbool.h>

/* One row of the file. `name`: of the exercise or the path. */
struct book_path_row {
    enum { BOOK_PATH_PLAN, BOOK_PATH_BEGIN, BOOK_PATH_PART, BOOK_PATH_STEP } kind;
    const char *name, *title;
    const char *text; /* of a path; of a plan: the prerequisites, separated by spaces */
    unsigned minutes; /* of a plan */
};

/* Returns all rows, `*n` of them. */
const struct book_path_row *book_path_rows(unsigned *n);
/* Returns false with an error for an exercise that the book lacks, one that is twice on a path, and
 * one whose prerequisite does not come before it on the path. */
bool book_path_check(const struct book_path_row *rows, unsigned n, struct err *e);

/* A path is its row BOOK_PATH_BEGIN. Returns the path number i, from 0; NULL past the last. */
const struct book_path_row *book_path_at(unsigned i);
/* Returns NULL with an error that lists the paths, if none has that name. */
const struct book_path_row *book_path_find(const char *name, struct err *e);
/* Returns the row after `row` that belongs to the same path, a part or a step; NULL at its end. */
const struct book_path_row *book_path_next(const struct book_path_row *row);
/* Returns the exercise of a step. */
const struct exercise *book_path_exercise(const struct book_path_row *step);
/* Returns the exercise's plan; NULL if it has none. */
const struct book_path_row *book_path_plan(const struct exercise *ex);
/* Appends the path as Markdown: title, text, the steps with minutes and prerequisites. */
void book_path_markdown(const struct book_path_row *path, struct buf *out);
