/* internal.h — declares what the parts of the fake driver share. */
#pragma once
#include <stdbool.h>

/* Of CUresult, those that it returns. */
enum {
    OK,
    INVALID_VALUE,
    OUT_OF_MEMORY,
    NOT_INITIALIZED,
    INVALID_CONTEXT = 201,
    INVALID_IMAGE = 200,
    NOT_FOUND = 500,
    NOT_READY = 600
};

/* Adds a sentence to fakecuda_violations(). */
void add_violation(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Counts the call; a call before cuInit, or without a current context, is a violation. */
void record_call(const char *name, bool needs_context);
#define RECORD_CALL() record_call(__func__, true)
