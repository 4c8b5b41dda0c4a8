/* roster.h — who should have handed in: a CSV file with a header, as an LMS or GitHub Classroom
 * exports it. A column named id, identifier, sid, student, login, email … says who is who; all
 * other columns are further names of the person, by which a submission may be found: a number, an
 * e-mail address, a GitHub name, "Doe, Jane". The column read_submission_time says when the person
 * handed in, with the distance from UTC. */
#pragma once
#include "common/err.h"

#include <stdbool.h>

enum { ROSTER_NONE = -1, ROSTER_AMBIGUOUS = -2 };

struct roster_row {
    char *id;   /* as in the file */
    char *name; /* of the column called name, or "" */
    char *time; /* of the column read_submission_time, or "" */
    char **cells;
    unsigned n;
};
struct roster {
    struct roster_row *rows;
    unsigned n, capacity;
    void *ids, *aliases; /* trees of names */
};
bool roster_read(const char *path, struct roster *r, struct err *e);
/* The row that this name means, ROSTER_NONE, or ROSTER_AMBIGUOUS where it means more than one. */
int roster_find(const struct roster *r, const char *name);
void roster_free(struct roster *r);
