/* roster.h — reads the roster, a class's list of students: a CSV file with a header, as an LMS or
 * GitHub Classroom exports it; plan.c calls it. A column named id, identifier, sid, student, login,
 * email … has the student's id. All other columns are further names that a submission may have: a
 * number, an e-mail address, a GitHub name, "Doe, Jane". The column submitted_at has the time of
 * the submission, with an offset from UTC; "Last modified (submission)" of Moodle's worksheet has
 * it in words. The column group has a group's name: its submission counts for each member. */
#pragma once
#include "common/err.h"
#include "grader/class/csv.h"

#include <stdbool.h>

enum { ROSTER_NONE = -1, ROSTER_AMBIGUOUS = -2 };

struct roster_row {
    char *id;    /* as in the file */
    char *name;  /* from the column name, or "" */
    char *time;  /* from the column submitted_at, or "" */
    char *words; /* from the column "Last modified (submission)", or "" */
    char *group; /* from the column group, in the form in which groups are compared, or "" */
    struct csv_row csv;
    unsigned line; /* the row's number in the file; the header is 0 */
};
struct roster {
    struct roster_row *rows;
    unsigned n, capacity;
    void *ids, *aliases, *bases, *rotations,
        *groups; /* trees of struct roster_name, see tsearch(3) */
};
enum { ROSTER_TIME_SIZE = 48 };
/* Writes a time in Moodle's English words, "Thursday, 1 October 2026, 9:59 PM", as a time with an
 * offset from UTC, such as "+02:00". Returns false if it is none ("-"), or in another language. */
bool roster_parse_words(const char *words, const char *utc_offset, char out[ROSTER_TIME_SIZE]);
/* Reads a CSV file. Returns false if it is none, or has no column that identifies students. */
bool roster_read(const char *path, struct roster *r, struct err *e);
/* Returns the index of the row with this id or name, ROSTER_NONE, or ROSTER_AMBIGUOUS. */
int roster_find(const struct roster *r, const char *name);
/* Calls `visit` with each row that has this id or name in any column, perhaps more than once. Use
 * it to list the people behind an ambiguous name. */
typedef void roster_visit_fn(void *ctx, unsigned row);
void roster_visit_namesakes(const struct roster *r, const char *name, roster_visit_fn *visit,
                            void *ctx);
/* Returns true if a group of this name exists, or has the row's person as a member. */
bool roster_has_group(const struct roster *r, const char *group);
bool roster_is_in_group(const struct roster *r, unsigned row, const char *group);
void roster_free(struct roster *r);
