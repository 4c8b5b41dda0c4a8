/* decision.h — what an instructor decides about a student: a score, an excuse, a deadline,
 * comments. Decisions are rows of the store that are only ever added (store.def); a later one
 * replaces an earlier one of the same kind, and both remain with reason, author and date. */
#pragma once
#include "grader/class/store.h"

#include <stdio.h>

/* X(name, what a value is) */
#define DECISION_KINDS(X)                      \
    X(score, "points of 100, before lateness") \
    X(excused, "yes")                          \
    X(deadline, "a time with its offset")      \
    X(comment, "a text, to one line or to all")
enum decision_kind {
#define X(name, text) DECISION_##name,
    DECISION_KINDS(X)
#undef X
};
struct decision {
    const char *student;
    const char *exercise; /* its id; "" = all, as for a deadline */
    enum decision_kind kind;
    unsigned line;     /* of a comment; 0 = the whole file */
    const char *value; /* "-" withdraws an earlier decision */
    const char *reason, *author;
    const long long *last_seen; /* the latest row of `decision` that the author saw; NULL = any */
};
/* Checks a decision and adds it. Returns false if the student, the exercise or the value is none,
 * or if somebody decided the same after `last_seen`. */
bool decision_add(struct store *s, const struct decision *d, struct err *e);
/* Write the history, the latest last. */
bool decision_export_text(struct store *s, FILE *f, struct err *e);
bool decision_export_csv(struct store *s, FILE *f, struct err *e);
/* Queries the valid decisions about a student's exercise: kind, line, value, reason, author. */
sqlite3_stmt *decision_query(struct store *s, const char *student, const char *exercise,
                             struct err *e);
/* Removes all that the store has of a student. `*result_count` becomes the number of results that
 * nobody else has. Returns false if there is no such student. */
bool decision_forget(struct store *s, const char *student, long long *result_count, struct err *e);
