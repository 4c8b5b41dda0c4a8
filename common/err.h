/* err.h — errors as values: what went wrong, where, and what to do about it.
 *
 * A function that can fail takes a `struct err *` as its last parameter and returns false (or NULL)
 * after filling it in; `return err_set(...)` does both. The first error wins: setting an error that
 * is already set keeps the first message. */
#pragma once
#include <stdbool.h>

enum err_kind {
    ERR_NONE,
    ERR_INPUT,       /* the user's file or argument is at fault */
    ERR_UNSUPPORTED, /* well formed, but not something we implement */
    ERR_LIMIT,       /* a limit on memory, time or output was reached */
    ERR_SYSTEM,      /* the machine said no: a missing file, a full disk */
    ERR_INTERNAL,    /* our own fault */
};

struct err {
    enum err_kind kind;
    char text[1024]; /* one line or several, no trailing newline */
};

/* Always returns false, so that it can end a function. */
bool err_set(struct err *e, enum err_kind kind, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Ends the program (status 3, "cannot grade"); only for what can be nothing but our own bug. */
_Noreturn void die(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Allocation that cannot fail from the caller's view: out of memory ends the program through die().
 */
void *xmalloc(unsigned long bytes);
void *xcalloc(unsigned long count, unsigned long bytes);
void *
xcalloc_cache_aligned(unsigned long count,
                      unsigned long bytes); /* at a line of the cache; `bytes`: a multiple of one */
void *xrealloc(void *p, unsigned long bytes);
char *xstrdup(const char *s);
