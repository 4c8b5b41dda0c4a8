/* csv.c — see csv.h. */
#include "grader/class/csv.h"
#include "common/file.h"
#include "common/grow.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_CSV_BYTES = 64 << 20, REPLACEMENT = 0xfffd };

/* ---- encodings ---- */

static void put_utf8(uint32_t code, struct buf *out) {
    char bytes[4];
    unsigned n = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    if (n == 1) bytes[0] = (char)code;
    for (unsigned i = n; i-- > 1; code >>= 6) bytes[i] = (char)(0x80 | (code & 0x3f));
    if (n > 1) bytes[0] = (char)((0xf00 >> n) | code);
    buf_add(out, bytes, n);
}

static uint32_t utf16_unit(const struct buf *text, size_t at) {
    const unsigned char *b = (const unsigned char *)text->data + at;
    return at + 1 < text->size ? (uint32_t)(b[0] | b[1] << 8) : 0;
}

static void from_utf16(const struct buf *text, struct buf *out) {
    for (size_t at = 2; at + 1 < text->size; at += 2) {
        uint32_t code = utf16_unit(text, at), low = utf16_unit(text, at + 2);
        if (code >= 0xd800 && code < 0xdc00 && low >= 0xdc00 && low < 0xe000)
            code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00), at += 2;
        put_utf8(code >= 0xd800 && code < 0xe000 ? REPLACEMENT : code, out);
    }
}

static void put_unit(uint32_t unit, struct buf *out) {
    buf_add(out, (char[2]){(char)unit, (char)(unit >> 8)}, 2);
}

static void put_utf16(const struct buf *text, struct buf *out) {
    const unsigned char *s = (const unsigned char *)buf_str(text), *end = s + text->size;
    put_unit(0xfeff, out);
    while (s < end) {
        unsigned n = *s < 0x80 ? 1 : *s >= 0xf0 ? 4 : *s >= 0xe0 ? 3 : 2;
        uint32_t code = n == 1 ? *s : *s & (0x7fu >> n);
        for (unsigned i = 1; i < n && s + i < end; i++) code = code << 6 | (s[i] & 0x3f);
        if (code < 0x10000) put_unit(code, out);
        else
            put_unit(0xd800 + ((code - 0x10000) >> 10), out),
                put_unit(0xdc00 + (code & 0x3ff), out);
        s += n;
    }
}

static const char mark8[] = "\xef\xbb\xbf", mark16[] = "\xff\xfe";

bool csv_read_file(const char *path, struct buf *text, enum csv_encoding *encoding, struct err *e) {
    struct buf bytes = {0};
    bool ok = file_read(path, MAX_CSV_BYTES, &bytes, e);
    const char *s = buf_str(&bytes);
    *encoding = bytes.size >= 3 && !memcmp(s, mark8, 3)    ? CSV_UTF8_MARKED
                : bytes.size >= 2 && !memcmp(s, mark16, 2) ? CSV_UTF16_MARKED
                                                           : CSV_UTF8;
    size_t skip = *encoding == CSV_UTF8_MARKED ? 3 : 0;
    if (*encoding == CSV_UTF16_MARKED) from_utf16(&bytes, text);
    else buf_add(text, s + skip, bytes.size - skip);
    buf_free(&bytes);
    return ok;
}

void csv_encode(const struct buf *text, enum csv_encoding encoding, struct buf *out) {
    if (encoding == CSV_UTF8_MARKED) buf_puts(out, mark8);
    if (encoding == CSV_UTF16_MARKED) put_utf16(text, out);
    else buf_add(out, buf_str(text), text->size);
}

/* ---- rows ---- */

/* Adds the next cell to the row; moves `*at` behind its separator. */
static void parse_cell(struct csv_row *row, const char **at, const char *end, char separator,
                       bool *is_last) {
    struct buf out = {0};
    const char *s = *at;
    bool is_quoted = s < end && *s == '"';
    for (s += is_quoted; s < end; s++) {
        if (is_quoted && *s == '"' && s + 1 < end && s[1] == '"') s++;
        else if (is_quoted && *s == '"') {
            is_quoted = false;
            continue;
        } else if (!is_quoted && (*s == separator || *s == '\n')) break;
        if (*s && (is_quoted || *s != '\r')) buf_add(&out, s, 1);
    }
    GROW(row->cells, row->n + 1, row->capacity, 8);
    GROW(row->ranges, row->n + 1, row->ranges_capacity, 8);
    row->ranges[row->n] = (struct csv_cell_range){*at, s > *at && s[-1] == '\r' ? s - 1 : s};
    *is_last = s >= end || *s == '\n';
    *at = s < end ? s + 1 : end;
    char *text = xstrdup(buf_str(&out)), *start = text + strspn(text, " ");
    memmove(text, start, strlen(start) + 1);
    for (size_t n = strlen(text); n && text[n - 1] == ' ';) text[--n] = 0;
    row->cells[row->n++] = text;
    buf_free(&out);
}

struct csv_row csv_parse_row(const char **at, const char *end, char separator) {
    struct csv_row row = {0};
    for (bool is_last = false; !is_last;) parse_cell(&row, at, end, separator, &is_last);
    return row;
}

void csv_free_row(struct csv_row *row) {
    for (unsigned i = 0; i < row->n; i++) free(row->cells[i]);
    free(row->cells), free(row->ranges);
}

char csv_separator(const char *text) {
    size_t line = strcspn(text, "\n");
    return memchr(text, '\t', line)                              ? '\t'
           : !memchr(text, ',', line) && memchr(text, ';', line) ? ';'
                                                                 : ',';
}

void csv_put_quoted(const char *s, struct buf *out) {
    buf_puts(out, "\"");
    for (; *s; s++) *s == '"' ? buf_puts(out, "\"\"") : buf_add(out, s, 1);
    buf_puts(out, "\"");
}
