/* submissions.h — a folder of submissions that a test fills, and what `grader intake` says about
 * it. */
#pragma once
#include "common/buf.h"

/* The folder for files that aren't submissions, such as the roster; submissions are in c/ below. */
extern char submissions_folder[4096];

/* Makes the folder, empty; `name` is the suite's. */
void submissions_make(const char *name);
/* Writes a file of c/, with its folders. */
void submissions_write(const char *path, const char *text);
/* Writes a file beside c/. */
void submissions_write_roster(const char *name, const char *text);
/* Fails unless `grader intake PATHS OPTIONS` in that folder exits with `status`. Replaces `out` by
 * the rows as CSV, or by the message if the status is 2. */
void submissions_intake(const char *arguments, int status, struct buf *out);
/* Fails unless `rows` contains `row`, or if it does. */
void submissions_has(const struct buf *rows, const char *row);
void submissions_lacks(const struct buf *rows, const char *row);
