/* report_text.c — the text report for the student: what failed and where, then the time and the
 * points lost, then what to do next. */
#include "grader/jail/jail.h"
#include "common/text.h"
#include "common/paths.h"
#include "grader/book/book.h"
#include "grader/grade/score.h"
#include "grader/page/page.h"
#include "grader/report/report.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MAX_NAMED_FAILURES = 6 };

/* Returns true if the message quotes the line already, as race reports do (common/quote.h). */
static bool has_quote(const char *message, unsigned line) {
    char needle[32];
    snprintf(needle, sizeof needle, "\n%5u | ", line);
    return strstr(message, needle);
}

/* Quotes the first two lines of the student's file that the message names. */
static void quote_named_lines(const struct result *r, const char *message,
                              const struct report_style *s, struct buf *out) {
    enum { MAX_QUOTES = 2 };
    unsigned shown[MAX_QUOTES], n = 0;
    size_t length = strlen(r->file);
    for (const char *p = message; length && n < MAX_QUOTES && (p = strstr(p, r->file));
         p += length) {
        unsigned line = 0;
        if (sscanf(p + length, ":%u", &line) != 1 || !line || (n && shown[0] == line)) continue;
        if (has_quote(message, line)) continue;
        report_quote_line(r, r->file, line, 9, s, out);
        shown[n++] = line;
    }
}

static void write_case(const struct result *r, unsigned i, bool verbose,
                       const struct report_style *s, struct buf *out) {
    const struct case_result *c = &r->cases[i];
    struct buf head = {0};
    if (c->number && !r->is_single_case) buf_printf(&head, "case %u, ", c->number);
    buf_printf(&head, "%s", c->name);
    buf_printf(out, "    %s%-4s%s ", report_style_escape(s, report_verdict_style(c->verdict)),
               verdict_code(c->verdict), report_style_escape(s, TEXT_STYLE_NONE));
    report_wrap_hanging(buf_str(&head), 9, s, out);
    buf_free(&head);
    if (!verbose) return;
    report_wrap(c->message, 9, s, out);
    quote_named_lines(r, c->message, s, out);
}

/* Writes the first failing case of each verdict in full, beginning with the verdict of the whole
 * result; then how many more failed. */
static void write_cases(const struct result *r, const struct report_style *s, struct buf *out) {
    unsigned passed = 0, more[V_COUNT] = {0}, remaining = 0;
    for (unsigned i = 0; i < r->ncases; i++) passed += r->cases[i].verdict == V_AC;
    if (!r->ncases) return;
    buf_printf(out, "  %-10s %s%u of %u cases%s", "correct",
               report_style_escape(s, passed == r->ncases ? TEXT_STYLE_GOOD : TEXT_STYLE_BAD),
               passed, r->ncases, report_style_escape(s, TEXT_STYLE_NONE));
    if (r->nhidden) buf_printf(out, ", %u of them hidden", r->nhidden);
    buf_puts(out, "\n");
    for (int v = V_COUNT - 1; v > V_AC; v--) {
        bool first = true;
        for (unsigned i = 0; i < r->ncases; i++) {
            if ((int)r->cases[i].verdict != v) continue;
            if (first) write_case(r, i, true, s, out);
            else more[v]++, remaining++;
            first = false;
        }
    }
    struct buf text = {0};
    for (int v = V_COUNT - 1; v > V_AC; v--)
        if (more[v])
            buf_printf(&text, "%s%u more %s", text.size ? ", " : "", more[v],
                       verdict_code((enum verdict)v));
    if (remaining <= MAX_NAMED_FAILURES && remaining) buf_puts(&text, ": ");
    for (unsigned i = 0, n = 0, seen[V_COUNT] = {0};
         i < r->ncases && remaining <= MAX_NAMED_FAILURES; i++)
        if (r->cases[i].verdict != V_AC && seen[r->cases[i].verdict]++)
            buf_printf(&text, "%s%s", n++ ? "; " : "", r->cases[i].name);
    report_wrap(buf_str(&text), 9, s, out);
    buf_free(&text);
}

/* Writes "METRIC is 32, at most 4.5", with all digits if rounding would make value and limit equal.
 */
static void write_value(const struct technique_result *t, struct buf *out) {
    struct buf value_text = {0}, bound = {0};
    page_number(t->value, &value_text), page_number(t->limit, &bound);
    if (!t->passed && !strcmp(buf_str(&value_text), buf_str(&bound))) {
        buf_clear(&value_text), buf_clear(&bound);
        buf_printf(&value_text, "%.9g", t->value), buf_printf(&bound, "%.9g", t->limit);
    }
    buf_printf(out, "%s is %s%s%s, %s %s", t->metric, buf_str(&value_text), t->unit ? " per " : "",
               t->unit ? t->unit : "", t->is_upper_limit ? "at most" : "at least", buf_str(&bound));
    buf_free(&value_text), buf_free(&bound);
}

/* Returns the missed limit that costs most: of a guard, else of the goal with the least progress.
 */
static const struct technique_result *worst_miss(const struct result *r) {
    const struct technique_result *worst = NULL;
    for (unsigned i = 0; i < r->ntechnique; i++) {
        const struct technique_result *t = &r->technique[i];
        if (t->passed || (r->goals_waived && !t->is_guard)) continue;
        if (!worst || (t->is_guard && !worst->is_guard) ||
            (t->is_guard == worst->is_guard && t->goal_progress < worst->goal_progress))
            worst = t;
    }
    return worst;
}

static const struct case_result *first_failure(const struct result *r) {
    const struct case_result *first_failed = NULL;
    for (unsigned i = 0; i < r->ncases; i++) {
        const struct case_result *c = &r->cases[i];
        if (c->verdict == r->verdict && c->verdict != V_AC) return c;
        if (c->verdict != V_AC && !first_failed) first_failed = c;
    }
    return first_failed;
}

/* "out-of-bounds: transpose.cu:7: kernel …" becomes "transpose.cu:7: out-of-bounds: kernel …". */
static void write_location_first(const char *message, const char *file, struct buf *out) {
    size_t n = strcspn(message, "\n"), length = strlen(file);
    const char *at = length ? memmem(message, n, file, length) : NULL;
    unsigned line = 0;
    int used = 0;
    bool has_location =
        at && at > message && sscanf(at + length, ":%u: %n", &line, &used) == 1 && used;
    if (!has_location) buf_add(out, message, n);
    else {
        buf_printf(out, "%s:%u: ", file, line);
        buf_add(out, message, (size_t)(at - message));
        buf_add(out, at + length + used, n - (size_t)(at - message) - length - (size_t)used);
    }
}

/* nvcc's "transpose.cu(6): error: …" becomes "transpose.cu:6: error: …"; the first error, or the
 * first line if there is none. */
static void write_first_compiler_error(const char *message, struct buf *out) {
    const char *error = strstr(message, "): error"), *line = message;
    for (const char *p = message; error && p < error; p++)
        if (*p == '\n') line = p + 1;
    size_t n = strcspn(line, "\n"), name = strcspn(line, "(\n"), digits = 0;
    if (line[name] == '(') digits = strspn(line + name + 1, "0123456789");
    bool has_location = digits && !strncmp(line + name + 1 + digits, "):", 2);
    if (!has_location) buf_add(out, line, n);
    else {
        buf_printf(out, "%.*s:%.*s:", (int)name, line, (int)digits, line + name + 1);
        size_t rest = name + digits + 3;
        buf_add(out, line + rest, n - rest);
    }
}

/* Completes "3 of 3 elements of `out` are wrong:" with the first mismatch, on the same line. */
static void append_first_mismatch(const char *message, struct buf *out) {
    const char *p = message + strcspn(message, "\n");
    if (!out->size || out->data[out->size - 1] != ':') return;
    for (p += *p == '\n'; *p && *p != '\n';) {
        size_t blanks = strspn(p, " "), word = strcspn(p + blanks, " \n");
        if (word) buf_printf(out, " %.*s", (int)word, p + blanks);
        p += blanks + word;
    }
}

void report_first_failure(const struct result *r, struct buf *out) {
    const struct case_result *c = first_failure(r);
    const struct technique_result *t = c ? NULL : worst_miss(r);
    if (c && c->instructor_message) buf_printf(out, "%s: %s", c->name, c->message);
    else if (c) {
        write_location_first(c->message, r->file, out), append_first_mismatch(c->message, out);
        if (!text_starts_with(buf_str(out), r->file)) buf_printf(out, " (%s)", c->name);
    } else if (t) {
        if (t->file[0]) buf_printf(out, "%s:%u: ", t->file, t->line);
        buf_printf(out, "%s: %s", t->is_guard ? "guard failed" : "goal not reached", t->name);
        if (t->metric[0]) buf_puts(out, ": "), write_value(t, out);
    } else if (r->message[0]) write_first_compiler_error(r->message, out);
}

/* Writes the first failure at the beginning of a line, in the FILE:LINE: form that editors jump to.
 */
static void write_first_cause(const struct result *r, const struct report_style *s,
                              struct buf *out) {
    struct buf text = {0};
    report_first_failure(r, &text);
    if (text.size && r->verdict != V_AC) report_wrap(buf_str(&text), 0, s, out);
    buf_free(&text);
}

static void write_header(const struct result *r, const struct report_style *s, struct buf *out) {
    buf_printf(out, "%s%s%s  %s%s%s", report_style_escape(s, TEXT_STYLE_BOLD), r->id,
               report_style_escape(s, TEXT_STYLE_NONE),
               report_style_escape(s, report_verdict_style(r->verdict)), verdict_code(r->verdict),
               report_style_escape(s, TEXT_STYLE_NONE));
    buf_printf(out, " (%s)", verdict_text(r->verdict));
    if (r->is_single_case) buf_puts(out, "  only this case, no points");
    else if (r->is_unmodified) buf_puts(out, "  not started");
    else if (verdict_has_score(r->verdict))
        buf_printf(out, "  %.1f of %.0f points", r->score, r->max_score);
    buf_puts(out, "\n");
    write_first_cause(r, s, out);
    if (s->brief) return;
    buf_printf(out, "  %s%s%s\n", report_style_escape(s, TEXT_STYLE_DIM), r->ex->title,
               report_style_escape(s, TEXT_STYLE_NONE));
    if (!s->shows_sandbox && !jail_disabled()) return;
    enum text_style style = jail_disabled() ? TEXT_STYLE_BAD : TEXT_STYLE_DIM;
    buf_printf(out, "  %s%-10s %s%s\n", report_style_escape(s, style), "jail", jail_describe_tier(),
               report_style_escape(s, TEXT_STYLE_NONE));
}

static bool same_check(const struct result *r, unsigned i, unsigned k) {
    return r->technique[i].test_index == r->technique[k].test_index &&
           r->technique[i].is_guard == r->technique[k].is_guard;
}

/* Returns true if all limits of one test passed. They form one check; `end` is the index behind
 * them. */
static bool check_passed(const struct result *r, unsigned first, unsigned *end) {
    bool passed = true;
    for (*end = first; *end < r->ntechnique && same_check(r, first, *end); ++*end)
        passed = passed && r->technique[*end].passed;
    return passed;
}

/* Writes the reason for the limit and quotes the line, except for what the previous miss of the
 * same check showed already. */
static void write_miss(const struct result *r, const struct technique_result *t,
                       const struct technique_result *previous, const struct report_style *s,
                       struct buf *out) {
    bool already_quoted = previous && previous->line == t->line && !strcmp(previous->file, t->file);
    if (!previous || strcmp(previous->reason, t->reason) != 0) report_wrap(t->reason, 9, s, out);
    if (t->file[0] && !already_quoted) report_quote_line(r, t->file, t->line, 9, s, out);
}

/* Returns the limit that decides a check: the one with the least progress, or the first if all
 * passed. */
static const struct technique_result *deciding_limit(const struct result *r, unsigned first,
                                                     unsigned end) {
    const struct technique_result *worst = NULL;
    for (unsigned i = first; i < end; i++)
        if (!r->technique[i].passed &&
            (!worst || r->technique[i].goal_progress < worst->goal_progress))
            worst = &r->technique[i];
    return worst ? worst : &r->technique[first];
}

static void write_limit(const struct result *r, const struct technique_result *t,
                        const struct technique_result *previous, const struct report_style *s,
                        struct buf *out) {
    struct buf text = {0};
    buf_printf(out, "    %s%-4s%s ",
               report_style_escape(s, t->passed ? TEXT_STYLE_NONE : TEXT_STYLE_WARN),
               t->passed ? "" : "miss", report_style_escape(s, TEXT_STYLE_NONE));
    if (t->metric[0]) write_value(t, &text);
    if (!t->passed && t->has_baseline)
        buf_puts(&text, "; baseline "), page_number(t->baseline_value, &text);
    if (text.size) report_wrap_hanging(buf_str(&text), 9, s, out);
    else buf_puts(out, "\n");
    buf_free(&text);
    if (!t->passed) write_miss(r, t, previous, s, out);
}

/* Returns the same limit in an earlier check that misses it too, or NULL. */
static const struct technique_result *find_same_miss_above(const struct result *r, unsigned i,
                                                           unsigned first) {
    const struct technique_result *t = &r->technique[i];
    for (unsigned k = 0; k < first; k++) {
        const struct technique_result *o = &r->technique[k];
        bool same = o->is_upper_limit == t->is_upper_limit && o->limit == t->limit &&
                    !strcmp(o->metric, t->metric);
        if (same && !o->passed && !strcmp(o->unit ? o->unit : "", t->unit ? t->unit : "")) return o;
    }
    return NULL;
}

static void write_check(const struct result *r, unsigned first, unsigned end, bool passed,
                        const struct report_style *s, struct buf *out) {
    const struct technique_result *worst = deciding_limit(r, first, end);
    bool waived = !passed && !worst->is_guard && r->goals_waived;
    buf_printf(out, "    %s%s%s %s %s%s%s",
               report_style_escape(s, passed || waived ? TEXT_STYLE_GOOD : TEXT_STYLE_WARN),
               passed   ? "ok  "
               : waived ? "--  "
                        : "FAIL",
               report_style_escape(s, TEXT_STYLE_NONE), worst->is_guard ? "guard" : "goal ",
               passed ? "" : report_style_escape(s, TEXT_STYLE_BOLD), worst->name,
               passed ? "" : report_style_escape(s, TEXT_STYLE_NONE));
    if (waived) buf_puts(out, "  waived");
    else if (!passed && !worst->is_guard && worst->goal_progress > 0)
        buf_printf(out, "  %.0f %% reached", 100 * worst->goal_progress);
    buf_puts(out, "\n");
    const struct technique_result *previous = NULL;
    for (unsigned i = first; i < end; i++) {
        const struct technique_result *t = &r->technique[i],
                                      *same_miss =
                                          t->passed ? NULL : find_same_miss_above(r, i, first);
        if (same_miss)
            buf_printf(out, "    %smiss%s %s: as in \"%s\"\n",
                       report_style_escape(s, TEXT_STYLE_WARN),
                       report_style_escape(s, TEXT_STYLE_NONE), t->metric, same_miss->name);
        else if (!s->brief || !t->passed) write_limit(r, t, previous, s, out);
        if (!t->passed && !same_miss) previous = t;
    }
}

static void write_technique(const struct result *r, const struct report_style *s, struct buf *out) {
    const struct check_counts *n = &r->checks;
    if (!n->goals && !n->guards) return;
    bool all_passed = n->goals_reached == n->goals && n->guards_passed == n->guards;
    buf_printf(out, "  %-10s %s%u of %u goal%s reached", "technique",
               report_style_escape(s, all_passed ? TEXT_STYLE_GOOD : TEXT_STYLE_WARN),
               n->goals_reached, n->goals, n->goals == 1 ? "" : "s");
    if (n->guards)
        buf_printf(out, ", %u of %u guard%s passed", n->guards_passed, n->guards,
                   n->guards == 1 ? "" : "s");
    buf_printf(out, "%s\n", report_style_escape(s, TEXT_STYLE_NONE));
    for (unsigned i = 0, end; i < r->ntechnique; i = end) {
        bool ok = check_passed(r, i, &end);
        write_check(r, i, end, ok, s, out);
    }
}

/* Writes the rates at which the problem's own bytes and operations were processed, and the device's
 * peaks: "3 910 of 4 300 GB/s". */
static void write_achieved(const struct speed_result *p, const struct gpu_device *d,
                           struct buf *out) {
    double seconds = p->student_us * 1e-6, bytes = p->bytes / seconds * 1e-9,
           flops = p->flops / seconds * 1e-9;
    if (p->bytes > 0) {
        buf_puts(out, "achieves "), page_number(bytes, out), buf_puts(out, " of ");
        page_number((p->bus_rate > 0 ? p->bus_rate : d->dram_rate) * 1e-9, out),
            buf_puts(out, " GB/s");
    }
    if (p->flops > 0) {
        buf_puts(out, p->bytes > 0 ? ", " : "achieves "), page_number(flops, out),
            buf_puts(out, " of ");
        page_number(1e-9 * result_peak_flops(p, d), out), buf_puts(out, " GFLOP/s");
    }
    if (p->bytes > 0 || p->flops > 0)
        buf_puts(out, " (only bytes and operations that the problem needs)\n");
    if (p->roofline_fraction <= 0) return;
    buf_printf(out, "%.0f %% of the roofline: at peak rate, the problem would take ",
               100 * p->roofline_fraction);
    page_time(p->student_us * p->roofline_fraction, out);
    buf_puts(out, "\n");
}

/* Writes which speed earns points, if the error of modelled ratios makes a difference to them. */
static void write_counted_speed(const struct result *r, struct buf *out) {
    double modelled = r->speed.vs_solution, counted = r->speed.counted_vs_solution;
    if (!r->speed_counted || modelled >= SCORE_FULL_SPEED || counted < 1.005 * modelled) return;
    buf_printf(out,
               "points count %.2fx: nine of ten measured ratios are within %.2fx of modelled ones "
               "like this, and you get the benefit of the doubt\n",
               counted, counted / modelled);
}

/* Writes the bottleneck, the distance from the roofline and the interval of a modelled time. */
static void write_bounds(const struct result *r, const struct gpu_device *d,
                         const struct report_style *s, struct buf *out) {
    const struct speed_result *p = &r->speed;
    struct buf text = {0};
    if (p->bound_by[0]) buf_printf(&text, "bound by: %s\n", p->bound_by);
    report_limit_lines(r, &text);
    write_achieved(p, d, &text);
    if (!strcmp(p->kind, "modelled")) {
        buf_puts(&text, "likely between ");
        page_time(p->low_us, &text), buf_puts(&text, " and "), page_time(p->high_us, &text);
        buf_puts(&text, "; for the model's accuracy, see docs/time-model.md\n");
        write_counted_speed(r, &text);
    }
    report_wrap(buf_str(&text), 13, s, out);
    buf_free(&text);
}

/* Writes each kernel's share if there are several: "sums 62 % in 3 launches, apply 38 %". */
static void write_kernel_times(const struct result *r, const struct report_style *s,
                               struct buf *out) {
    struct buf text = {0};
    double total_us = 0;
    for (unsigned i = 0; i < r->nkernel_times; i++) total_us += r->kernel_times[i].us;
    if (r->nkernel_times < 2 || !(total_us > 0) || strcmp(r->speed.kind, "modelled")) return;
    buf_puts(&text, "by kernel: ");
    for (unsigned i = 0; i < r->nkernel_times; i++) {
        const struct kernel_time *k = &r->kernel_times[i];
        buf_printf(&text, "%s%s %.0f %%", i ? ", " : "", k->name, 100 * k->us / total_us);
        if (k->launches > 1) buf_printf(&text, " in %u launches", k->launches);
    }
    report_wrap(buf_str(&text), 13, s, out);
    buf_free(&text);
}

void report_speed(const struct result *r, const struct gpu_device *d, const struct report_style *s,
                  struct buf *out) {
    const struct speed_result *p = &r->speed;
    if (!p->valid) {
        if (p->note[0]) buf_printf(out, "  %-10s unknown: %s\n", "speed", p->note);
        return;
    }
    buf_printf(out, "  %-10s ", "speed");
    page_time(p->student_us, out);
    buf_printf(out, ", %s%.2fx the model solution's speed%s",
               report_style_escape(s, TEXT_STYLE_BOLD), p->vs_solution,
               report_style_escape(s, TEXT_STYLE_NONE));
    if (p->baseline_us > 0) buf_printf(out, ", %.2fx the baseline's", p->vs_baseline);
    struct buf text = {0};
    buf_printf(&text, "%s for %s on %s; model solution ", p->kind, p->size, d->full_name);
    page_time(p->solution_us, &text);
    if (p->baseline_us > 0) buf_puts(&text, ", baseline "), page_time(p->baseline_us, &text);
    buf_puts(out, "\n");
    report_wrap(buf_str(&text), 13, s, out);
    buf_free(&text);
    struct buf bound = {0};
    if (p->bound_by[0] && s->brief)
        buf_printf(&bound, "bound by: %s", p->bound_by), report_wrap(buf_str(&bound), 13, s, out);
    buf_free(&bound);
    if (s->brief) return;
    write_bounds(r, d, s, out);
    write_kernel_times(r, s, out);
    if (p->note[0]) report_wrap(p->note, 13, s, out);
}

static void write_score_explanation(const struct result *r, const struct report_style *s,
                                    struct buf *out) {
    struct buf text = {0};
    report_explain_score(r, &text);
    if (text.size) buf_puts(out, "  score/time "), report_wrap_hanging(buf_str(&text), 13, s, out);
    buf_free(&text);
}

/* Writes every point that was not awarded, with the reason. */
static void write_points_lost(const struct result *r, const struct report_style *s,
                              struct buf *out) {
    if (r->verdict == V_FLAG)
        buf_puts(out, "  Withheld: a person must review this result before it gets a score.\n");
    if (r->verdict == V_IE)
        report_wrap("The grader or this machine failed, not your code, so there is no score. Run "
                    "it again. If the message names a feature that the simulated GPU can't run, "
                    "rewrite the code without it.",
                    2, s, out);
    if (r->goals_waived)
        report_wrap(
            "waived: missed goals count as reached, because this version is faster than the model "
            "solution by more than the time model's error, passes all guards, and the grader "
            "checked its whole output at the timed size",
            2, s, out);
    for (unsigned i = 0; i < r->npoints_lost; i++) {
        struct buf text = {0};
        buf_printf(&text, "%.1f points: %s", r->points_lost[i].points, r->points_lost[i].reason);
        buf_printf(out, "  %-10s ", i ? "" : "lost");
        report_wrap_hanging(buf_str(&text), 13, s, out);
        buf_free(&text);
    }
    write_score_explanation(r, s, out);
    if (r->available.correctness + r->available.technique > 0 && !r->speed_counted &&
        r->available.speed > 0)
        buf_printf(out, "  %s%-10s %.0f speed points: %s; the other points are scaled to %.0f%s\n",
                   report_style_escape(s, TEXT_STYLE_DIM), "excluded", r->available.speed,
                   !r->speed.valid ? "the time is unknown"
                   : r->speed.solution_speedup < SCORE_MIN_SPEEDUP
                       ? "the technique gains too little on this device"
                       : "modelled times do not count in this run",
                   r->max_score, report_style_escape(s, TEXT_STYLE_NONE));
}

/* Returns the number of the deciding case as --case takes it, from 1; 0 = none. */
static unsigned failing_case_number(const struct result *r) {
    const struct case_result *c = first_failure(r);
    unsigned i = c ? (unsigned)(c - r->cases) : r->ex->ncases;
    return i < r->ex->ncases ? i + 1 : 0;
}

/* Writes both commands on one line, or on two lines if they don't fit: a wrapped command can't be
 * copied. */
static void write_commands(const char *first, const char *second, const struct report_style *s,
                           struct buf *out) {
    bool fits_on_line = !s->width || 13 + strlen(first) + 3 + strlen(second) <= s->width;
    buf_printf(out, "  %s%-10s %s", report_style_escape(s, TEXT_STYLE_DIM), "next", first);
    if (*second) buf_printf(out, "%s%s", fits_on_line ? "   " : "\n             ", second);
    buf_printf(out, "%s\n", report_style_escape(s, TEXT_STYLE_NONE));
}

static void write_next_step(const struct result *r, const struct report_style *s, struct buf *out) {
    const char *name = r->ex->name, *grader = paths_command("grader");
    char first[PATHS_COMMAND_SIZE + 160] = "", second[PATHS_COMMAND_SIZE + 160];
    unsigned number = failing_case_number(r);
    if (r->is_single_case || r->verdict == V_IE || (r->verdict == V_AC && !book_has_solutions()))
        return;
    snprintf(second, sizeof second, "%s hint %s", grader, name);
    if (r->verdict == V_AC) snprintf(first, sizeof first, "compare with the steps of the ladder:");
    else if (r->verdict == V_PART) snprintf(first, sizeof first, "%s profile %s", grader, name);
    else if (number) snprintf(first, sizeof first, "%s run %s --case %u", grader, name, number);
    if (r->verdict == V_AC) snprintf(second, sizeof second, "%s solution %s", grader, name);
    write_commands(*first ? first : second, *first ? second : "", s, out);
}

/* Returns the assertion in a line by which a thread reports that it failed; NULL = another line. */
static const char *assertion(const char *line, const char *end) {
    const char *at = memmem(line, (size_t)(end - line), " Assertion `", 12);
    return at && end - line > 8 && !memcmp(end - 8, " failed.", 8) ? at : NULL;
}

static bool same_assertion(const char *line, const char *end, const char *previous,
                           const char *previous_end) {
    const char *a = assertion(line, end), *b = previous ? assertion(previous, previous_end) : NULL;
    return a && b && end - a == previous_end - b && !memcmp(a, b, (size_t)(end - a));
}

static void write_repeats(unsigned repeats, struct buf *out) {
    if (repeats) buf_printf(out, "… and %u more thread%s\n", repeats, repeats == 1 ? "" : "s");
}

/* Every thread that fails an assertion prints a line; only the first is shown, then a count. */
static void write_log(const char *log, struct buf *out) {
    struct buf collapsed = {0};
    const char *previous = NULL, *previous_end = NULL;
    unsigned repeats = 0;
    for (const char *line = log, *end; *line; line = end + (*end == '\n')) {
        end = line + strcspn(line, "\n");
        bool is_repeat = same_assertion(line, end, previous, previous_end);
        previous = line, previous_end = end;
        if (is_repeat && ++repeats) continue;
        write_repeats(repeats, &collapsed), repeats = 0;
        buf_add(&collapsed, line, (size_t)(end - line)), buf_puts(&collapsed, "\n");
    }
    write_repeats(repeats, &collapsed);
    buf_puts(out, "  output:\n");
    report_indent(buf_str(&collapsed), 4, out);
    buf_free(&collapsed);
}

void report_text(const struct result *r, const struct gpu_device *d, const struct report_style *s,
                 struct buf *out) {
    write_header(r, s, out);
    report_wrap(r->message, 4, s, out);
    write_cases(r, s, out);
    write_technique(r, s, out);
    report_speed(r, d, s, out);
    write_points_lost(r, s, out);
    if (r->log.size) write_log(buf_str(&r->log), out);
    if (!s->brief) write_next_step(r, s, out);
}

/* ---- the table ---- */

static unsigned longest_id(const struct result *const *results, unsigned n) {
    unsigned width = 8;
    for (unsigned i = 0; i < n; i++)
        if (strlen(results[i]->id) > width) width = (unsigned)strlen(results[i]->id);
    return width;
}

/* Returns the width left for the last column; 0 if it is too narrow to be useful. */
static unsigned failure_column_width(const struct report_style *s, unsigned used_width) {
    if (!s->width) return 100;
    return s->width < used_width + 24 ? 0 : s->width - used_width;
}

void report_table(const struct result *const *results, unsigned n, const struct report_style *s,
                  struct buf *out) {
    unsigned width = longest_id(results, n), passed = 0,
             failure_width = failure_column_width(s, width + 43);
    buf_printf(out, "%s%-*s  %-8s %6s  %-22s%s%s\n", report_style_escape(s, TEXT_STYLE_BOLD),
               (int)width, "exercise", "verdict", "score", "speed (modelled)",
               failure_width ? "  first failing check" : "",
               report_style_escape(s, TEXT_STYLE_NONE));
    for (unsigned i = 0; i < n; i++) {
        const struct result *r = results[i];
        struct buf failure_text = {0}, speed_text = {0};
        char score[32] = "-"; /* no score is no zero */
        if (verdict_has_score(r->verdict)) snprintf(score, sizeof score, "%.1f", r->score);
        report_first_failure(r, &failure_text);
        if (r->speed.valid) buf_printf(&speed_text, "%.2fx model solution", r->speed.vs_solution);
        passed += r->verdict == V_AC;
        buf_printf(out, "%-*s  %s%-8s%s %6s  %-22s%s%.*s\n", (int)width, r->id,
                   report_style_escape(s, report_verdict_style(r->verdict)),
                   verdict_code(r->verdict), report_style_escape(s, TEXT_STYLE_NONE), score,
                   buf_str(&speed_text), failure_width ? "  " : "", (int)failure_width,
                   buf_str(&failure_text));
        buf_free(&failure_text), buf_free(&speed_text);
    }
    buf_printf(out, "%u of %u accepted\n", passed, n);
}
