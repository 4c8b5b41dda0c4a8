/* status.h — shows what a command is doing and for how long. On a terminal it is one line of
 * standard error, which later output overwrites. Elsewhere it is a line each minute, so that a log
 * distinguishes a long run from a hang. */
#pragma once
#include "common/buf.h"

#include <stdint.h>

/* Shows "USER: STEP". `user` is a string, such as an exercise. */
void status_show(void *user, const char *step);
/* Shows `text`, as a step that begins now. */
void status_print(const char *text);
/* Shows `text` for a step that began at `start_seconds` of clock_seconds(). */
void status_print_since(const char *text, double start_seconds);
void status_clear(void);
/* Appends `text`, cut to `columns` columns. */
void status_truncate(const char *text, unsigned columns, struct buf *out);
/* Returns a terminal's width; 0 if `fd` is no terminal or reports less than 40 columns. */
unsigned status_terminal_columns(int fd);

/* Work of which the number of items is known. */
struct status_count {
    const char *unit; /* plural: "exercises" */
    uint64_t done, total;
    double start_seconds; /* of clock_seconds() */
};
void status_count_begin(struct status_count *c, const char *unit, unsigned total);
/* Shows how many items are done, the rate, the time left, and the item that begins; "" = none. */
void status_count_show(const struct status_count *c, const char *item);
/* Counts an item and shows the file that begins. For grade_options.progress; `count` is a
 * struct status_count. */
void status_count_next(void *count, const char *path);
/* Appends the text of status_count_show() after that many seconds, without the item. */
void status_put_count(const struct status_count *c, double seconds, struct buf *out);
