/* export_worksheet.h — fills grades into the file that an LMS exports for offline grading, so that
 * the LMS imports it again. */
#pragma once
#include "grader/class/store.h"

#include <stdio.h>

enum worksheet_format {
    WORKSHEET_moodle,
    WORKSHEET_canvas,
    WORKSHEET_blackboard,
    WORKSHEET_brightspace
};
struct worksheet_options {
    enum worksheet_format format;
    const char *path;     /* the LMS's file */
    const char *column;   /* how the column of grades begins; NULL = with the assignment's name */
    const char *exercise; /* grades are of this exercise; NULL = of the assignment */
};
struct worksheet_counts {
    unsigned graded, open; /* rows with a grade, and of students without one */
    unsigned excused;      /* rows of students who need none */
    unsigned unknown;      /* rows of nobody in the store */
    unsigned absent;       /* students of the store without a row */
};
/* Writes the worksheet to `f`. It changes the grades of students that have one or, for Canvas, are
 * excused, and nothing else.
 * Appends the ids of absent students to `absent`, one a line. */
bool export_worksheet(struct store *s, const struct worksheet_options *o, FILE *f,
                      struct worksheet_counts *counts, struct buf *absent, struct err *e);
