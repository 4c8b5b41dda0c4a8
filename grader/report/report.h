/* report.h — writes results as text, JSON, HTML pages and the files of other harnesses. The writers
 * read `struct result` and nothing else. */
#pragma once
#include "common/buf.h"
#include "grader/grade/result.h"
#include "grader/sim/timing/timing.h"

#include <stdbool.h>

struct report_style {
    bool colour;
    unsigned width; /* columns of the terminal; 0 = do not wrap */
    /* For one screen: only failures, the time and the points; no passed limits, details or next
     * step. */
    bool brief;
    bool shows_sandbox; /* for instructors; a disabled sandbox is always shown */
};

/* Appends the whole report of one exercise. */
void report_text(const struct result *r, const struct gpu_device *d,
                 const struct report_style *style, struct buf *out);
/* Appends the first failure in one line: the second line of the report. Appends nothing if nothing
 * failed. */
void report_first_failure(const struct result *r, struct buf *out);
/* Appends a table with one line for each result. */
void report_table(const struct result *const *results, unsigned n, const struct report_style *style,
                  struct buf *out);
struct json_t;
/* Appends a block for each chapter: its title; of graded exercises how many are accepted, and their
 * points; the exercises that are not started. A result that is NULL means not started. `list` is in
 * the order of the book. */
void report_overview(const struct exercise *const *list, const struct result *const *results,
                     unsigned n, const struct report_style *style, struct buf *out);
/* Appends an exercise as delivered and its model solution side by side: verdicts, times, the line
 * that wastes. `solution` is NULL in a release that leaves it out. */
void report_demonstration(const struct result *delivered, const struct result *solution,
                          const struct gpu_device *d, const struct report_style *style,
                          struct buf *out);
/* Adds to the object of report_json() the exercises that were not graded because their files are
 * untouched. */
void report_json_not_started(struct json_t *o, const struct exercise *const *list, unsigned n);
/* Returns the object of docs/json.md for one device. */
struct json_t *report_json(const struct result *const *results, unsigned n,
                           const struct gpu_device *d, const char *seed);
/* Appends the objects of one or several devices as text; of several as {"schema": 2, "seed",
 * "devices": [...]}. Takes over the references. */
void report_json_text(struct json_t *const *devices, unsigned n, const char *seed, struct buf *out);

/* Appends `o` as indented text and a newline. Takes over the reference. */
void report_json_write(struct json_t *o, struct buf *out);

/* Appends the results.json of a Gradescope autograder: one test for each exercise, with the whole
 * report as its output. */
void report_gradescope(const struct result *results, unsigned n, const struct gpu_device *d,
                       struct buf *out);

/* Options of report_autograder(), from an assignment. */
struct report_autograder_options {
    /* Visibility of the tests, in Gradescope's words. */
    const char *goal_visibility, *guard_visibility, *case_visibility;
    bool leaderboard;
    const double *weights; /* of each result, a factor on its points; NULL = 1 for all */
    /* Of each result: why no file was graded; NULL = one was. */
    const char *const *absent_reasons;
    /* Intake could not take a file, so that absent exercises get no score instead of 0. */
    bool needs_review;
    double score; /* of all exercises together; NAN = the sum of the tests */
    const char *note;
    double seconds;
};
/* Appends a results.json with one test for each goal, guard and set of cases. */
void report_autograder(const struct result *results, unsigned n, const struct gpu_device *d,
                       const struct report_autograder_options *options, struct buf *out);
/* Appends a results.json that says why nothing could be graded. */
void report_autograder_failed(const char *reason, struct buf *out);
/* Appends the result object that GitHub Classroom's reporter reads, before base64. */
void report_classroom(const struct result *results, unsigned n, const struct gpu_device *d,
                      struct buf *out);
/* Appends the reports and, as the last line, the object that Autolab reads: {"scores": …} with the
 * points of each exercise, by its name without the chapter. */
void report_autolab(const struct result *results, unsigned n, const struct gpu_device *d,
                    struct buf *out);

/* Appends the hottest lines of the student's source with their shares of time and counters, within
 * the style's width; with `show_all` every line. */
void report_profile(const struct result *r, const struct gpu_device *d,
                    const struct report_style *style, bool show_all, struct buf *out);
/* Returns the profile as an object: `columns`, each with `name` and `description`, and `lines` of
 * the student's file, each with `line`, `time_percent`, `stalls` (reason and percent of the line's
 * time, largest first), `values` (by column; null = none) and `hot`. */
struct json_t *report_profile_json(const struct result *r);
/* Appends the report's section on time. */
void report_speed(const struct result *r, const struct gpu_device *d,
                  const struct report_style *style, struct buf *out);

/* Returns the line's share of all waits for what limits the time, 0 to 1 (report_account.c). */
double report_limit_share(const struct result *r, const struct line_result *l);
/* Appends the lines with most of these waits: "waits for L2 bandwidth: 98 % at line 6". */
void report_limit_lines(const struct result *r, struct buf *out);
/* Returns a list of `name`, `percent` of the time and `behind_percent`, the points to the first. */
struct json_t *report_limits_json(const struct time_account_result *a);
/* Returns the microseconds of each part of the time, by name; they add up to it. */
struct json_t *report_account_json(const struct time_account_result *a);
/* Returns the microseconds for which each resource is busy, and those of the stall reasons, by
 * name; they overlap. */
struct json_t *report_busy_json(const struct time_account_result *a);

/* Appends why points and time disagree, in a sentence or two; nothing if they agree. */
void report_explain_score(const struct result *r, struct buf *out);

/* One earlier grading of the student's file. */
struct report_history_entry {
    long long graded_at; /* seconds since 1970 */
    char verdict[16], kind[16];
    double score, us;       /* us = 0: the time is unknown */
    char source_digest[65]; /* SHA-256 of the graded text; "" = unknown */
    char device[32];        /* its name; "" = an older grader wrote none */
};
/* What a page shows besides the result itself. */
struct report_context {
    const struct version *versions; /* grader/grade/versions.h: baseline, steps, model solution */
    unsigned nversions;
    const struct report_history_entry *history; /* oldest first */
    unsigned nhistory;
};
/* Appends the report of one exercise as a self-contained HTML page. */
void report_html(const struct result *r, const struct gpu_device *d,
                 const struct report_context *context, struct buf *out);
/* The page's pictures (report_pictures.c): times and roofline; kernels; access patterns;
 * divergence; history. */
void report_picture_times(const struct result *r, const struct gpu_device *d,
                          const struct report_context *b, struct buf *out);
void report_picture_streams(const struct result *r, struct buf *out);
void report_picture_kernels(const struct result *r, struct buf *out);
void report_picture_accesses(const struct result *r, const struct report_context *b,
                             struct buf *out);
void report_picture_divergence(const struct result *r, struct buf *out);
void report_picture_history(const struct report_context *b, struct buf *out);
/* Returns the pictures of a page that shows a result live, as HTML: `account` (the modelled time
 * by stall reason), `timeline` (of streams) and `roofline` (with a dot for each attempt), "" if
 * unknown; `accesses`: of each
 * line of the student's file the costliest accesses, each with `line`, `kernel`, `caption`, `svg`
 * and `wasted` (sectors or wavefronts above the ideal). */
struct json_t *report_pictures_json(const struct result *r, const struct gpu_device *d,
                                    const struct report_context *context);

/* Appends text wrapped at blanks to the style's width, every line indented by `indent` blanks
 * (report_wrap.c). */
void report_wrap(const char *text, unsigned indent, const struct report_style *style,
                 struct buf *out);
/* The same after `indent` columns that are already on the line. */
void report_wrap_hanging(const char *text, unsigned indent, const struct report_style *style,
                         struct buf *out);
/* Appends "transpose.cu:7:", which editors can jump to, and the line's text. */
void report_quote_line(const struct result *r, const char *file, unsigned line, unsigned indent,
                       const struct report_style *style, struct buf *out);
/* Appends text and blanks up to `columns` columns, at least one. */
void report_pad(const char *text, unsigned columns, struct buf *out);
/* Appends text indented but not wrapped, such as tables and compiler messages. */
void report_indent(const char *text, unsigned indent, struct buf *out);
/* Appends Markdown with its paragraphs and items wrapped; code and tables keep their lines. */
void report_markdown(const char *text, const struct report_style *style, struct buf *out);

/* Appends as many of the first lines as fit on `rows` rows of a terminal. Returns the number of
 * lines left out. */
unsigned report_fit_rows(const char *text, unsigned rows, const struct report_style *style,
                         struct buf *out);

/* Styles of text on a terminal. */
enum text_style {
    TEXT_STYLE_NONE,
    TEXT_STYLE_BOLD,
    TEXT_STYLE_DIM,
    TEXT_STYLE_GOOD,
    TEXT_STYLE_WARN,
    TEXT_STYLE_BAD
};
/* Returns the escape sequence, or "" without colour. */
const char *report_style_escape(const struct report_style *s, enum text_style i);
enum text_style report_verdict_style(enum verdict v);
/* Appends line `n` (from 1) of a text without its newline, with `trim` also without leading blanks;
 * nothing if there is no such line. */
void report_source_line(const struct buf *text, unsigned n, bool trim, struct buf *out);
