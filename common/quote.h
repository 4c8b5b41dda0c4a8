/* quote.h — reports beside the source that they speak of: what an element is called there, and the
 * lines themselves. Neither text nor source is trusted. */
#pragma once
#include "common/buf.h"

#include <stddef.h>

/* "element 67 of `as` (1056 of 4 bytes) in shared memory" becomes "`as[2][1]` in shared memory"
 * where the source declares
 * `__shared__ float as[32][33]`, above the line if several do. What cannot be told for certain
 * stays as it is. */
void quote_elements(struct buf *text, const char *source, size_t n, unsigned line);

/* The lines that a report names, its own (`line`) and those "in line N", each once: `before`, "  12
 * | s[t] += 1;", `after`. */
void quote_lines(const char *text, const char *source, size_t n, unsigned line, const char *prefix,
                 const char *suffix, struct buf *out);
