/* decision.h — what an instructor decides about a student: a score, an excuse, a deadline,
 * comments, a partner, moderation; and a student's request to grade an exercise again, with its
 * answer.
 * Decisions are rows of the store that are only ever added (store.def); a later one replaces an
 * earlier one of the same kind, and both remain with reason, author and date. */
#pragma once
#include "grader/class/store.h"

#include <stdio.h>

/* X(name, what a value is) */
#define DECISION_KINDS(X)                             \
    X(score, "points of 100, before lateness")        \
    X(excused, "yes")                                 \
    X(deadline, "a time with its offset")             \
    X(comment, "a text, to one line or to all")       \
    X(request, "a student's text: grade this again")  \
    X(answer, "a text, which closes the request")     \
    X(partner, "the student whose submission counts") \
    X(moderated, "yes: two people score it blind")    \
    X(blind_score, "one of these scores, of 100")
enum decision_kind {
#define X(name, text) DECISION_##name,
    DECISION_KINDS(X)
#undef X
};
/* Returns the kind of a row of `decision`. */
enum decision_kind decision_parse_kind(const char *name);
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
 * if somebody decided the same after `last_seen`, if no open request awaits the answer, or if the
 * author may not score a submission in moderation (moderation.h). */
bool decision_add(struct store *s, const struct decision *d, struct err *e);
/* Adds all decisions of a list, or none of them. */
bool decision_add_all(struct store *s, const struct decision *list, unsigned n, struct err *e);
/* Queries the students who handed in the same entry, as a group does: their ids. */
struct store_rows *decision_query_partners(struct store *s, const char *student, struct err *e);
/* Write the history, the latest last. */
bool decision_export_text(struct store *s, FILE *f, struct err *e);
bool decision_export_csv(struct store *s, FILE *f, struct err *e);
/* Queries the valid decisions about a student's exercise, for the student: kind, line, value,
 * reason, author. Without moderation. */
struct store_rows *decision_query(struct store *s, const char *student, const char *exercise,
                                  struct err *e);
/* Queries the requests, oldest first: when, student, exercise, author, text, is_open, and of the
 * answer, NULL = none: text, author, when. A NULL student or exercise selects all. A request is
 * open until it is answered, withdrawn, or replaced by the student's next one. */
struct store_rows *decision_query_requests(struct store *s, const char *student,
                                           const char *exercise, struct err *e);
/* Removes all that the store has of a student. `*result_count` becomes the number of results that
 * nobody else has. Returns false if there is no such student. */
bool decision_forget(struct store *s, const char *student, long long *result_count, struct err *e);
