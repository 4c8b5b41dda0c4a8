/* csv.h — reads CSV files as an LMS writes them: separated by ',', ';' or tabs, in UTF-8 or UTF-16;
 * roster.c and worksheet.c call it. */
#pragma once
#include "common/buf.h"
#include "common/err.h"

#include <stdbool.h>

struct csv_cell_range {
    const char *from, *to; /* in the text, with its quotes */
};
struct csv_row {
    char **cells; /* without quotes and surrounding blanks */
    struct csv_cell_range *ranges;
    unsigned n, capacity, ranges_capacity;
};

/* "Marked": with a byte order mark. UTF-16 is little-endian. */
enum csv_encoding { CSV_UTF8, CSV_UTF8_MARKED, CSV_UTF16_MARKED };
/* Reads a file as UTF-8 without a byte order mark. */
bool csv_read_file(const char *path, struct buf *text, enum csv_encoding *encoding, struct err *e);
/* Appends such a text in an encoding. */
void csv_encode(const struct buf *text, enum csv_encoding encoding, struct buf *out);
/* Returns the separator that the first line shows. */
char csv_separator(const char *text);
/* Returns the next row, which must be before `end`, and moves `*at` behind it. */
struct csv_row csv_parse_row(const char **at, const char *end, char separator);
void csv_free_row(struct csv_row *row);
/* Appends a cell in quotes. */
void csv_put_quoted(const char *s, struct buf *out);
