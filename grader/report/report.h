/* report.h — writes results: for people (text) and for programs (JSON). Reads `struct result` and
 * nothing else. */
#pragma once
#include "common/buf.h"
#include "grader/grade/result.h"
#include "grader/sim/timing/timing.h"

#include <stdbool.h>

struct report_style {
    bool colour;
    unsigned width; /* of the terminal, 0 = do not wrap */
    bool brief; /* for a screen: what failed, the time and the points, without what passed and how
                   it was found */
};

/* The whole report of one exercise. */
void report_text(const struct result *r, const struct gpu_device *d,
                 const struct report_style *style, struct buf *out);
/* What is wrong first, in a line, as the report's second one has it; nothing where nothing is. */
void report_first_failure(const struct result *r, struct buf *out);
/* The closing table of several. */
void report_table(const struct result *const *results, unsigned n, const struct report_style *style,
                  struct buf *out);
/* The object of docs/json.md, for one device. */
struct json_t;
struct json_t *report_json(const struct result *const *results, unsigned n,
                           const struct gpu_device *d, const char *seed);
/* Several devices: {"schema": 2, "seed", "devices": [objects as above]}. Takes over the references;
 * appends text. */
void report_json_text(struct json_t *const *devices, unsigned n, const char *seed, struct buf *out);

/* Appends `o`, which it takes over, as indented text and a newline. */
void report_json_write(struct json_t *o, struct buf *out);

/* results.json of a Gradescope autograder: a test for each exercise, with the whole report as its
 * output; appended. */
void report_gradescope(const struct result *results, unsigned n, const struct gpu_device *d,
                       struct buf *out);

/* The same with a test for each goal and guard, as an assignment wants it. */
struct report_autograder_options {
    const char *goal_visibility, *guard_visibility,
        *case_visibility; /* their visibility, in Gradescope's words */
    bool leaderboard;
    const double *weights;             /* of each result: points for one of its own; NULL = 1 */
    const char *const *absent_reasons; /* of each result: why there is no file, and it is not
                                          graded; NULL = it is */
    bool needs_review; /* something was handed in that could not be taken: what is absent has no
                          score */
    double score;      /* of all together; NAN = what the tests add up to */
    const char *note;
    double seconds;
};
void report_autograder(const struct result *results, unsigned n, const struct gpu_device *d,
                       const struct report_autograder_options *options, struct buf *out);
/* results.json where nothing could be graded, with the reason. */
void report_autograder_failed(const char *reason, struct buf *out);
/* What a test runner of GitHub Classroom hands to its reporter, before base64. */
void report_classroom(const struct result *results, unsigned n, const struct gpu_device *d,
                      struct buf *out);

/* The hottest lines of the student's source with their shares of what was counted, within the
 * style's width; or all lines. */
void report_profile(const struct result *r, const struct gpu_device *d,
                    const struct report_style *style, bool show_all, struct buf *out);
/* The part of the report that is about time. */
void report_speed(const struct result *r, const struct gpu_device *d,
                  const struct report_style *style, struct buf *out);

/* Where points and time do not go together: why, in a sentence or two; nothing where they do. */
void report_explain_score(const struct result *r, struct buf *out);

/* One grading of the student's own file, as the history has it. */
struct report_history_entry {
    long long graded_at; /* seconds since 1970 */
    char verdict[16], kind[16];
    double score, us; /* us: 0 = no time known */
};
/* What stands beside a result on its page. */
struct report_context {
    const struct version *versions; /* grader/grade/versions.h: naive, steps, answer */
    unsigned nversions;
    const struct report_history_entry *history; /* the oldest first */
    unsigned nhistory;
};
/* The report of one exercise as an HTML page that stands alone. */
void report_html(const struct result *r, const struct gpu_device *d,
                 const struct report_context *context, struct buf *out);
/* Its pictures (report_pictures.c): times, roofline; kernels; accesses and banks; divergence;
 * history. */
void report_picture_times(const struct result *r, const struct gpu_device *d,
                          const struct report_context *b, struct buf *out);
void report_picture_kernels(const struct result *r, struct buf *out);
void report_picture_accesses(const struct result *r, const struct report_context *b,
                             struct buf *out);
void report_picture_divergence(const struct result *r, struct buf *out);
void report_picture_history(const struct report_context *b, struct buf *out);

/* Text within the style's width (report_wrap.c), appended: wrapped at blanks, every line after
 * `indent` blanks; the same after something of `indent` columns that stands on the line already; as
 * it is, indented. */
void report_wrap(const char *text, unsigned indent, const struct report_style *style,
                 struct buf *out);
void report_wrap_hanging(const char *text, unsigned indent, const struct report_style *style,
                         struct buf *out);
void report_indent(const char *text, unsigned indent, struct buf *out);
/* Markdown as it is, its paragraphs and items wrapped anew; code and tables keep their lines. */
void report_markdown(const char *text, const struct report_style *style, struct buf *out);

/* The first lines, as far as they fit on so many rows of a terminal; returns how many lines are
 * left out. */
unsigned report_fit_rows(const char *text, unsigned rows, const struct report_style *style,
                         struct buf *out);

/* Colours, as escape sequences or nothing. */
enum text_style {
    TEXT_STYLE_NONE,
    TEXT_STYLE_BOLD,
    TEXT_STYLE_DIM,
    TEXT_STYLE_GOOD,
    TEXT_STYLE_WARN,
    TEXT_STYLE_BAD
};
const char *report_style_escape(const struct report_style *s, enum text_style i);
enum text_style report_verdict_style(enum verdict v);
/* Line `n` (from 1) of a text, without its newline and with leading blanks removed; "" if there is
 * none. */
void report_source_line(const struct buf *text, unsigned n, bool trim, struct buf *out);
