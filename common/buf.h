/* buf.h — a growing byte buffer, also used to build strings. */
#pragma once
#include <stdarg.h>
#include <stddef.h>

/* A zeroed buf is empty. Once anything was added, a zero byte follows the data. */
struct buf {
    char *data;
    size_t size, capacity;
};

void buf_add(struct buf *b, const void *bytes, size_t n);
void buf_puts(struct buf *b, const char *s);
void buf_printf(struct buf *b, const char *format, ...) __attribute__((format(printf, 2, 3)));
void buf_vprintf(struct buf *b, const char *format, va_list ap);
void buf_clear(struct buf *b); /* empty, memory kept */
void buf_free(struct buf *b);
const char *buf_str(const struct buf *b); /* never NULL */
