/* quote.h — adds the source to reports: the name of an array element there, and the lines
 * themselves. Neither text nor source is trusted. */
#pragma once
#include "common/buf.h"

#include <stddef.h>

/* Replaces "element 67 of `as` (1056 of 4 bytes) in shared memory" by "`as[2][1]` in shared memory"
 * if the source declares `__shared__ float as[32][33]`. Of several declarations, it uses the last
 * one at or above the line. Uncertain cases stay unchanged. */
void quote_rewrite_elements(struct buf *text, const char *source, size_t n, unsigned line);

/* Appends each line that a report names, its own (`line`) and those "in line N", once: `prefix`, "
 * 12 | s[t] += 1;", `suffix`. */
void quote_lines(const char *text, const char *source, size_t n, unsigned line, const char *prefix,
                 const char *suffix, struct buf *out);
