/* lesson.h — checks that a lesson shows the code and the counts of programs that run. The programs
 * of chapters/NN-slug/README.md are in lesson/ beside it, each with a `main`; `grader verify`
 * builds and runs them. Comments, which no page shows, name the program:
 *
 *   <!--code lesson/pairs.cu-->
 *       The indented block below consists of consecutive lines of that file, which may be any file
 *       of the book, by its path from the chapter. A line `...` stands for omitted lines. Comments
 *       and indentation may differ.
 *   <!--counted lesson/pairs.cu-->
 *       The table below has a row for each `kernel`. A column headed by a `counter`, or by
 *       `counter / counter`, has what the simulated GPU counts, to half a percent.
 *
 * An indented block with a semicolon must name its file. Pictures, ![words](lesson/NAME.svg), must
 * equal what `simgpu run --pictures` draws for these programs; `make pictures` draws them again. */
#pragma once
#include "common/buf.h"

#include <stdbool.h>

/* Appends a line for each problem of a chapter's lesson. */
void lesson_check(const char *chapter, struct buf *problems);

/* Copies the file that a line names after `marker` ("<!--code "), up to the end of the comment;
 * false if the line has no such marker. */
bool lesson_parse_marker(const char *line, const char *marker, char *file, size_t size);
/* The steps of lesson_check. `page`: the lesson's text; `file`: as markers name it,
 * "lesson/pairs.cu"; `source`: the file's text; `json`: its counters. */
void lesson_check_markers(const char *page, struct buf *problems);
void lesson_check_code(const char *page, const char *file, const char *source,
                       struct buf *problems);
void lesson_check_counts(const char *page, const char *file, const char *json,
                         struct buf *problems);
