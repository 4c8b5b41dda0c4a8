/* err.c — see err.h. */
#include "common/err.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool err_set(struct err *e, enum err_kind kind, const char *format, ...) {
    if (!e || e->kind != ERR_NONE) return false;
    va_list ap;
    va_start(ap, format);
    vsnprintf(e->text, sizeof e->text, format, ap);
    va_end(ap);
    e->kind = kind;
    return false;
}

void die(const char *format, ...) {
    va_list ap;
    va_start(ap, format);
    fputs("internal error: ", stderr);
    vfprintf(stderr, format, ap);
    fputc('\n', stderr);
    va_end(ap);
    exit(3);
}

static void *die_if_null(void *p) {
    if (!p) die("out of memory");
    return p;
}

void *xmalloc(unsigned long bytes) { return die_if_null(malloc(bytes ? bytes : 1)); }
void *xcalloc(unsigned long count, unsigned long bytes) {
    return die_if_null(calloc(count ? count : 1, bytes ? bytes : 1));
}
void *xcalloc_cache_aligned(unsigned long count, unsigned long bytes) {
    unsigned long line = 64, total = (count ? count : 1) * bytes;
    return memset(die_if_null(aligned_alloc(line, total)), 0, total);
}
void *xrealloc(void *p, unsigned long bytes) { return die_if_null(realloc(p, bytes ? bytes : 1)); }
char *xstrdup(const char *s) { return die_if_null(strdup(s)); }
