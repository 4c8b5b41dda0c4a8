/* assignment.h — an assignment, read from a TOML file: its exercises and their weights, deadline,
 * device, seed and hidden cases. docs/instructor-guide.md documents the keys. The grader's class
 * commands call it. */
#pragma once
#include "common/err.h"
#include "common/hash.h"
#include "grader/class/store.h"
#include "grader/grade/grade.h"

#include <stdbool.h>

struct assignment_part {
    const struct exercise *ex;
    double weight;
    char *hidden_path; /* absolute path of the file with its hidden cases; NULL = none */
    char variant[65];  /* seed of its variant (grader vary); "" = the book's exercise */
    bool is_varied;    /* each student has one of the drawn variants */
    unsigned line;     /* of its [[exercise]], for messages */
    void *dl_handle;   /* of the loaded hidden cases */
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
    char release[65];    /* only a grader whose digest begins so may grade; "" = any */
    bool count_modelled; /* modelled times earn speed points */
    bool has_deadline;
    long long deadline;   /* seconds since 1970, UTC */
    char utc_offset[8];   /* of the roster's times in words; "" = they don't count */
    unsigned drop_lowest; /* how many of the lowest marks don't count */
    struct {
        unsigned free_days, max_days; /* days late without a penalty; days after which all is 0 */
        double penalty;               /* percent of a mark for each day after the free ones */
    } late;
    double moderation_tolerance; /* points by which two blind scores may differ */
    struct { /* each student gets one of `count` variants (assignment_draw.h); 0 = no draw */
        unsigned count;
        char seed[65], folder[512]; /* secret; absolute path of the variants' copies */
    } variants;
    struct {
        enum assignment_visibility goals, guards, cases;
        bool leaderboard;
    } gradescope;
    struct assignment_part *parts; /* in the order of the file */
    unsigned n, capacity;
};
/* Reads and checks the file; errors name file and line. If `with_hidden`, also compiles and loads
 * the hidden cases. Free `a` with assignment_free. */
bool assignment_read(const char *path, bool with_hidden, struct assignment *a, struct err *e);
void assignment_free(struct assignment *a);
/* Returns the assignment's part for an exercise; NULL if it has none. */
const struct assignment_part *assignment_find_part(const struct assignment *a,
                                                   const struct exercise *ex);
/* Returns the days late, each begun day counted; 0 = in time, or there is no deadline. */
long long assignment_days_late(const struct assignment *a, long long submitted);
/* Returns the factor, 1 to 0, of a mark that is `days` late. */
double assignment_late_factor(const struct assignment *a, long long days);
/* Writes the assignment into the store, for the views `mark` and `total`. */
bool assignment_save(const struct assignment *a, struct store *s, struct err *e);
/* Format seconds since 1970 as "2026-10-01T21:59:00Z", and parse such a text. Parsing fails if the
 * text is not a time with an offset from UTC. */
void assignment_format_time(long long t, char out[32]);
bool assignment_parse_time(const char *text, long long *out);
