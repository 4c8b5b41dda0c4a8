/* export.h — what a store holds, for people and for other programs. Each says where its results
 * came from: seed, device, jail, grader, nvcc, the source's digest, the date. A result without a
 * score has none in any of them: only what the roster says is missing is a zero. */
#pragma once
#include "grader/class/store.h"

#include <stdio.h>

bool export_text(struct store *s, FILE *f, struct err *e);
bool export_csv(struct store *s, FILE *f, struct err *e);
bool export_nbgrader(struct store *s, FILE *f,
                     struct err *e); /* the columns of nbgrader's CsvExportPlugin */
bool export_json(struct store *s, FILE *f, struct err *e);
bool export_totals(struct store *s, FILE *f,
                   struct err *e); /* of an assignment: CSV, a row for each student */
bool export_junit(struct store *s, FILE *f, struct err *e);
bool export_tap(struct store *s, FILE *f, struct err *e);
/* What intake found: a line for each thing. */
bool export_intake_text(struct store *s, FILE *f, struct err *e);
bool export_intake_csv(struct store *s, FILE *f, struct err *e);
bool export_intake_json(struct store *s, FILE *f, struct err *e);
bool export_stats(struct store *s, FILE *f, struct err *e);
/* The same as a page, with pictures. */
bool export_stats_html(struct store *s, FILE *f, struct err *e);
/* Pages for each student into a folder: STUDENT.md, STUDENT.html, and the report of each exercise
 * as STUDENT-EXERCISE.html, as `grader report` has it, where this very grader graded it. How many
 * students, or -1. */
int export_feedback(struct store *s, const char *folder, struct err *e);

/* Columns of the view gradebook, in the order in which the exports read it. */
/* clang-format off */
#define EXPORT_COLUMNS(X)                                                                                           \
    X(student) X(name) X(exercise) X(state) X(verdict) X(score) X(max_score) X(speed_kind) X(vs_solution) X(reason) \
        X(jail) X(seed) X(device) X(source_sha256) X(grader) X(nvcc) X(graded_at) X(file) X(book) X(seconds)
/* clang-format on */
enum export_column {
#define X(name) EXPORT_##name,
    EXPORT_COLUMNS(X)
#undef X
        EXPORT_json,
    EXPORT_report,
    EXPORT_submitted_at, /* "" = unknown */
    EXPORT_result_blob,  /* see store.def */
    EXPORT_late_factor   /* what lateness leaves of a mark: 1 without an assignment */
};
/* The whole gradebook by student and exercise, with the result's JSON and report. */
sqlite3_stmt *export_query_gradebook(struct store *s, struct err *e);
/* A cell of CSV: quoted, and none begins as a formula does. */
void export_csv_cell(FILE *f, const char *s);
/* A column of text for people, that many letters wide, and a blank; a longer one is cut where
 * `cut`. */
void export_padded_text(FILE *f, const char *s, unsigned width, bool cut);
/* For tables of text, which fit a terminal of 80: the name without its chapter; a reason on the
 * rest of the line, or below it. */
const char *export_exercise_name(const char *exercise);
void export_reason(FILE *f, const char *reason, unsigned columns);
