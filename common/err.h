/* err.h — errors as values: what failed, where, and what to do about it.
 *
 * A function that can fail takes a `struct err *` as its last parameter and returns false (or NULL)
 * after filling it in; `return err_set(...)` does both. The first error wins: setting an error that
 * is already set keeps the first message. */
#pragma once
#include <stdbool.h>

enum err_kind {
    ERR_NONE,
    ERR_INPUT,       /* the user's file or argument is wrong */
    ERR_UNSUPPORTED, /* valid, but not implemented */
    ERR_LIMIT,       /* a limit on memory, time or output was reached */
    ERR_SYSTEM,      /* the system failed: a missing file, a full disk */
    ERR_INTERNAL,    /* a bug of ours */
};

struct err {
    enum err_kind kind;
    char text[1024]; /* one line or several, no trailing newline */
};

/* Always returns false, so that it can end a function. */
bool err_set(struct err *e, enum err_kind kind, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Prints the message and exits with status 3 ("could not grade"). Only for bugs and exhausted
 * memory. */
_Noreturn void die(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Allocate or die(); they never return NULL. */
void *xmalloc(unsigned long bytes);
void *xcalloc(unsigned long count, unsigned long bytes);
/* Aligned to a cache line of 64 bytes; `bytes` must be a multiple of it. */
void *xcalloc_cache_aligned(unsigned long count, unsigned long bytes);
void *xrealloc(void *p, unsigned long bytes);
char *xstrdup(const char *s);
