/* lesson.h — what a lesson shows is what runs. The programs that chapters/NN-slug/README.md speaks
 * of lie in lesson/ beside it, each with a `main`; `verify` builds and runs them. Comments, which
 * no page shows, say what belongs to which:
 *
 *     <!--code lesson/pairs.cu-->       the indented block below is made of consecutive lines of
 * that file, which may also be another of the book's, by its path from here. A line `...` leaves
 * lines out; comments and indentation may differ
 *     <!--counted lesson/pairs.cu-->    the table below: a row for each `kernel`, and in columns
 * headed by a `counter`, or by one over another, what the simulated GPU counts, to half a percent
 *
 * Indented blocks with a semicolon must name their file. Pictures, ![words](lesson/NAME.svg), are
 * what `simgpu run --pictures` draws of these programs; `make pictures` writes them anew. */
#pragma once
#include "common/buf.h"

#include <stdbool.h>

/* Appends a line for everything that is wrong with a chapter's lesson. */
void lesson_check(const char *chapter, struct buf *problems);

/* The file that a line names behind `mark` ("<!--code "), up to the comment's end; false: none. */
bool lesson_parse_marker(const char *line, const char *marker, char *file, size_t size);
/* Its parts. `page`: the lesson; `file`: of a mark, "lesson/pairs.cu"; `source`, `json`: its text,
 * what it counted. */
void lesson_check_markers(const char *page, struct buf *problems);
void lesson_check_code(const char *page, const char *file, const char *source,
                       struct buf *problems);
void lesson_check_counts(const char *page, const char *file, const char *json,
                         struct buf *problems);
