/* export.h — writes a store's content for people and for other programs; the class commands call
 * it. Each export includes the provenance of the results: seed, device, jail, grader, nvcc, the
 * source's digest, the date. A result without a score has none in any export. Only a submission
 * that the roster says is missing has 0. */
#pragma once
#include "grader/class/plan.h"
#include "grader/class/store.h"

#include <stdio.h>

/* Write the gradebook as a table for a terminal; as CSV. */
bool export_text(struct store *s, FILE *f, struct err *e);
bool export_csv(struct store *s, FILE *f, struct err *e);
/* Writes the columns of nbgrader's CsvExportPlugin. */
bool export_nbgrader(struct store *s, FILE *f, struct err *e);
bool export_json(struct store *s, FILE *f, struct err *e);
/* Writes an assignment's marks as CSV, one row for each student. */
bool export_totals(struct store *s, FILE *f, struct err *e);
bool export_junit(struct store *s, FILE *f, struct err *e);
bool export_tap(struct store *s, FILE *f, struct err *e);
/* Write what intake found, one line for each file or entry. */
bool export_intake_text(struct store *s, FILE *f, struct err *e);
bool export_intake_csv(struct store *s, FILE *f, struct err *e);
bool export_intake_json(struct store *s, FILE *f, struct err *e);
bool export_stats(struct store *s, FILE *f, struct err *e);
/* Writes the statistics as a page with pictures. */
bool export_stats_html(struct store *s, FILE *f, struct err *e);
/* Writes a page that ranks the students of each exercise, by name or by pseudonym. */
bool export_leaderboard(struct store *s, bool with_pseudonyms, FILE *f, struct err *e);
/* Writes each student's pages into a folder: STUDENT.md, STUDENT.html, and for each exercise the
 * page of `grader report` as STUDENT-EXERCISE.html, if this build of the grader graded it. Returns
 * the number of students, or -1. */
int export_feedback(struct store *s, const char *folder, struct err *e);

/* Writes each student's feedback as a zip file that Moodle or Canvas takes back
 * (PLAN_LAYOUT_moodle, PLAN_LAYOUT_canvas), by the names of the entries. Returns the number of
 * students in it, or -1. */
int export_feedback_zip(struct store *s, enum plan_layout layout, const char *path, struct err *e);

/* Columns of the view gradebook, in the order in which the exports read it. */
/* clang-format off */
#define EXPORT_COLUMNS(X)                                                              \
    X(student) X(name) X(exercise) X(state) X(verdict) X(score) X(max_score)           \
        X(speed_kind) X(vs_solution) X(reason) X(jail) X(seed) X(device)               \
            X(source_sha256) X(grader) X(nvcc) X(graded_at) X(file) X(book) X(seconds)
/* clang-format on */
/* A number of a statement with one digit behind the point, as text; '-' = NULL. */
#define EXPORT_ROUNDED(sql) "coalesce(CAST(round(CAST(" sql " AS NUMERIC), 1) AS TEXT), '-')"
enum export_column {
#define X(name) EXPORT_##name,
    EXPORT_COLUMNS(X)
#undef X
        EXPORT_json,
    EXPORT_report,
    EXPORT_submitted_at, /* "" = unknown */
    EXPORT_result_blob,  /* see store.def */
    EXPORT_late_factor,  /* 1 to 0, see assignment_late_factor; 1 without an assignment */
    EXPORT_page_grader,  /* the grader that can read the result's blob */
    EXPORT_variant,      /* NULL = the exercise has no drawn variants */
    EXPORT_solves_variant
};
/* Returns the whole gradebook by student and exercise, with each result's JSON and report. */
struct store_rows *export_query_gradebook(struct store *s, struct err *e);
/* Writes a quoted cell of CSV, which a spreadsheet never takes for a formula. */
void export_csv_cell(FILE *f, const char *s);
enum export_long_text { EXPORT_KEEP_LONG, EXPORT_CUT_LONG };
/* Writes a text padded to `width` letters, and a blank; keeps or cuts a longer text. */
void export_padded_text(FILE *f, const char *s, unsigned width, enum export_long_text long_text);
/* For tables of text, 80 columns wide. The first returns the name without its chapter; the second
 * writes a reason on the rest of the line, or below it if it has more than `max_bytes`. */
const char *export_exercise_name(const char *exercise);
void export_reason(FILE *f, const char *reason, unsigned max_bytes);
