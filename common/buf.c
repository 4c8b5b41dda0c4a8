/* buf.c — see buf.h. */
#include "common/buf.h"
#include "common/grow.h"

#include <assert.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void reserve(struct buf *b, size_t extra) {
    if (extra > SIZE_MAX - 1 - b->size) die("a buffer exceeds the address space");
    GROW(b->data, b->size + extra + 1, b->capacity, 256);
}

static void terminate(struct buf *b, size_t extra) {
    b->size += extra;
    assert(b->size < b->capacity); /* a zero byte fits behind the data */
    b->data[b->size] = 0;
}

void buf_add(struct buf *b, const void *bytes, size_t n) {
    reserve(b, n);
    if (n) memcpy(b->data + b->size, bytes, n);
    terminate(b, n);
}

void buf_puts(struct buf *b, const char *s) { buf_add(b, s, strlen(s)); }

void buf_vprintf(struct buf *b, const char *format, va_list ap) {
    va_list ap_copy;
    va_copy(ap_copy, ap);
    int n = vsnprintf(NULL, 0, format, ap);
    if (n > 0) {
        reserve(b, (size_t)n);
        vsnprintf(b->data + b->size, (size_t)n + 1, format, ap_copy);
        terminate(b, (size_t)n);
    }
    va_end(ap_copy);
}

void buf_printf(struct buf *b, const char *format, ...) {
    va_list ap;
    va_start(ap, format);
    buf_vprintf(b, format, ap);
    va_end(ap);
}

void buf_clear(struct buf *b) {
    b->size = 0;
    if (b->data) b->data[0] = 0;
}

void buf_free(struct buf *b) {
    free(b->data);
    *b = (struct buf){0};
}

const char *buf_str(const struct buf *b) { return b->data ? b->data : ""; }
