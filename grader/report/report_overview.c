/* report_overview.c — what `grader run` without a name shows besides the reports: the book by
 * chapters, with the exercises that are not started; and, as long as nothing is edited, one
 * exercise as delivered next to its model solution. */
#include "grader/book/book.h"
#include "grader/page/page.h"
#include "grader/report/report.h"

#include <string.h>

/* ---- the chapters ---- */

struct chapter_totals {
    unsigned graded_count, accepted_count, unstarted_count;
    double points;
};

static void write_totals(const struct chapter_totals *t, struct buf *out) {
    if (t->graded_count)
        buf_printf(out, "  %u of %u accepted, %.1f of %u points", t->accepted_count,
                   t->graded_count + t->unstarted_count, t->points,
                   100 * (t->graded_count + t->unstarted_count));
}

static void add_result(const struct exercise *ex, const struct result *r, struct chapter_totals *t,
                       struct buf *unstarted) {
    if (r) {
        t->graded_count++, t->accepted_count += r->verdict == V_AC;
        if (verdict_has_score(r->verdict)) t->points += r->score;
        return;
    }
    buf_printf(unstarted, "%s%s", t->unstarted_count ? ", " : "", ex->name);
    t->unstarted_count++;
}

/* Writes the block of the chapter that begins at `first`; returns the index behind it. */
static unsigned write_chapter(const struct exercise *const *list,
                              const struct result *const *results, unsigned first, unsigned n,
                              const struct report_style *s, struct buf *out) {
    struct buf title = {0}, unstarted = {0};
    struct chapter_totals totals = {0};
    unsigned end = first;
    for (; end < n && !strcmp(list[end]->chapter, list[first]->chapter); end++)
        add_result(list[end], results[end], &totals, &unstarted);
    book_chapter_title(list[first], &title);
    buf_printf(out, "%s%s%s  %s", report_style_escape(s, TEXT_STYLE_BOLD), list[first]->chapter,
               report_style_escape(s, TEXT_STYLE_NONE), buf_str(&title));
    write_totals(&totals, out);
    buf_puts(out, "\n");
    if (unstarted.size) {
        buf_printf(out, "  %snot started%s  ", report_style_escape(s, TEXT_STYLE_DIM),
                   report_style_escape(s, TEXT_STYLE_NONE));
        report_wrap_hanging(buf_str(&unstarted), 15, s, out);
    }
    buf_free(&title), buf_free(&unstarted);
    return end;
}

void report_overview(const struct exercise *const *list, const struct result *const *results,
                     unsigned n, const struct report_style *s, struct buf *out) {
    struct chapter_totals totals = {0};
    struct buf ignored = {0};
    for (unsigned i = 0; i < n;) i = write_chapter(list, results, i, n, s, out);
    for (unsigned i = 0; i < n; i++) add_result(list[i], results[i], &totals, &ignored);
    buf_printf(out, "%u exercises: %u accepted, %u tried, %u not started", n, totals.accepted_count,
               totals.graded_count - totals.accepted_count, totals.unstarted_count);
    if (totals.graded_count) buf_printf(out, "; %.1f of %u points", totals.points, 100 * n);
    buf_puts(out, "\n");
    buf_free(&ignored);
}

/* ---- the demonstration ---- */

enum { LABEL_COLUMNS = 12, CELL_COLUMNS = 36 };

static void write_row(const char *label, const struct buf *left, const struct buf *right,
                      struct buf *out) {
    buf_puts(out, "  ");
    report_pad(label, LABEL_COLUMNS, out);
    if (right) report_pad(buf_str(left), CELL_COLUMNS, out);
    buf_printf(out, "%s\n", buf_str(right ? right : left));
}

static void write_verdict(const struct result *r, struct buf *out) {
    buf_printf(out, "%s (%s), %.1f points", verdict_code(r->verdict), verdict_text(r->verdict),
               r->score);
}

static void write_correct_cases(const struct result *r, struct buf *out) {
    unsigned passed = 0;
    for (unsigned i = 0; i < r->ncases; i++) passed += r->cases[i].verdict == V_AC;
    buf_printf(out, "%u of %u cases", passed, r->ncases);
}

static void write_goals(const struct result *r, struct buf *out) {
    buf_printf(out, "%u of %u goal%s reached", r->checks.goals_reached, r->checks.goals,
               r->checks.goals == 1 ? "" : "s");
}

static void write_time(const struct result *r, struct buf *out) {
    if (r->speed.valid) page_time(r->speed.student_us, out);
    else buf_puts(out, "unknown");
    if (r->speed.valid && r->speed.vs_baseline > 1.005)
        buf_printf(out, ", %.1f times as fast", r->speed.vs_baseline);
}

/* The bottleneck without the "(next: ...)" behind it. */
static void write_bottleneck(const struct result *r, struct buf *out) {
    size_t n = r->speed.valid ? strcspn(r->speed.bound_by, "(") : 0;
    while (n && r->speed.bound_by[n - 1] == ' ') n--;
    buf_printf(out, "%.*s", (int)n, n ? r->speed.bound_by : "");
}

static const struct {
    const char *label;
    void (*write)(const struct result *r, struct buf *out);
} rows[] = {{"verdict", write_verdict},
            {"correct", write_correct_cases},
            {"technique", write_goals},
            {"time", write_time},
            {"bound by", write_bottleneck}};

/* Returns the first missed limit of a goal that names a line; NULL = none. */
static const struct technique_result *first_miss(const struct result *r) {
    for (unsigned i = 0; i < r->ntechnique; i++) {
        const struct technique_result *t = &r->technique[i];
        if (!t->is_guard && !t->passed && t->metric[0] && t->file[0]) return t;
    }
    return NULL;
}

/* Returns the same limit in the result of another version; NULL = it has none. */
static const struct technique_result *same_limit(const struct result *r,
                                                 const struct technique_result *t) {
    for (unsigned i = 0; r && i < r->ntechnique; i++)
        if (!r->technique[i].is_guard && r->technique[i].test_index == t->test_index &&
            !strcmp(r->technique[i].metric, t->metric))
            return &r->technique[i];
    return NULL;
}

static void write_wasteful_line(const struct result *delivered, const struct result *solution,
                                const struct report_style *s, struct buf *out) {
    const struct technique_result *t = first_miss(delivered), *reached;
    struct buf text = {0};
    if (!t) return;
    buf_puts(out, "\n  The line that wastes:\n");
    report_quote_line(delivered, t->file, t->line, 2, s, out);
    buf_printf(&text, "%s is %.4g", t->metric, t->value);
    if ((reached = same_limit(solution, t)))
        buf_printf(&text, ", in the model solution %.4g", reached->value);
    buf_printf(&text, " (%s %.4g): %s\n", t->is_upper_limit ? "at most" : "at least", t->limit,
               t->reason);
    report_wrap(buf_str(&text), 2, s, out);
    buf_free(&text);
}

void report_demonstration(const struct result *delivered, const struct result *solution,
                          const struct gpu_device *d, const struct report_style *s,
                          struct buf *out) {
    struct buf left = {0}, right = {0};
    buf_printf(out, "%sAn example: %s, graded%s%s\n", report_style_escape(s, TEXT_STYLE_BOLD),
               delivered->id, solution ? " twice" : "", report_style_escape(s, TEXT_STYLE_NONE));
    buf_puts(&left, "as delivered"), buf_puts(&right, "model solution");
    write_row("", &left, solution ? &right : NULL, out);
    for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++) {
        buf_clear(&left), buf_clear(&right);
        rows[i].write(delivered, &left);
        if (solution) rows[i].write(solution, &right);
        write_row(rows[i].label, &left, solution ? &right : NULL, out);
    }
    if (delivered->speed.valid)
        buf_printf(out, "  %*s%s for %s on %s\n", LABEL_COLUMNS, "", delivered->speed.kind,
                   delivered->speed.size, d->full_name);
    write_wasteful_line(delivered, solution, s, out);
    buf_free(&left), buf_free(&right);
}
