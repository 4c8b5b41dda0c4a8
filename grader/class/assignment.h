/* assignment.h — a piece of homework as a TOML file says it: which exercises, what they weigh,
 * until when, on which device and seed, and cases that students do not see.
 * docs/instructor-guide.md has the keys. */
#pragma once
#include "common/err.h"
#include "common/hash.h"
#include "grader/class/store.h"
#include "grader/grade/grade.h"

#include <stdbool.h>

struct assignment_part {
    const struct exercise *ex;
    double weight;
    char *hidden; /* the file of its hidden cases, absolute; NULL = none */
    unsigned line;
    void *dl_handle; /* the hidden cases' */
    struct grading_policy policy;
};
enum assignment_visibility {
    ASSIGNMENT_visible,
    ASSIGNMENT_hidden,
    ASSIGNMENT_after_due_date,
    ASSIGNMENT_after_published
};
struct assignment {
    char path[4096]; /* absolute */
    char name[128], seed[65], device[64], roster[512];
    bool count_modelled;  /* modelled speed counts */
    bool has_deadline;    /* there is a deadline */
    long long deadline;   /* seconds since 1970 */
    unsigned drop_lowest; /* so many of the lowest marks do not count */
    struct {
        unsigned free_days, max_days; /* days */
        double penalty;               /* percent of a mark for each day after the free ones */
    } late;
    struct {
        enum assignment_visibility goals, guards, cases;
        bool leaderboard;
    } gradescope;
    struct assignment_part *parts; /* in the order of the file */
    unsigned n, capacity;
};
/* Reads and checks it all; errors name file and line. `hidden`: compile and load the hidden cases,
 * which must be there; else they are left alone. */
bool assignment_read(const char *path, bool with_hidden, struct assignment *a, struct err *e);
void assignment_free(struct assignment *a);
const struct assignment_part *
assignment_find_part(const struct assignment *a, const struct exercise *ex); /* NULL = not in it */
/* Days begun after the deadline; 0 where it was in time or has none. */
long long assignment_days_late(const struct assignment *a, long long submitted);
/* What is left of a mark that many days late: 1 to 0. */
double assignment_late_factor(const struct assignment *a, long long days);
/* Into the store: for the views `mark` and `total`. */
bool assignment_save(const struct assignment *a, struct store *s, struct err *e);
/* A digest of what grading depends on: "" for none. */
void assignment_policy_digest(const struct grading_policy *t, char out[HASH_HEX_SIZE]);
/* "2026-10-01T21:59:00Z" of seconds; and back: false where it is no time with an offset from UTC.
 */
void assignment_format_time(long long t, char out[32]);
bool assignment_parse_time(const char *text, long long *out);
