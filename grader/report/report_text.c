/* report_text.c — the report for the student: first what failed and where, then what it cost, then what to do next. */
#include "grader/jail/jail.h"
#include "common/text.h"
#include "grader/report/report.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { FAILURES_IN_FULL = 2 };

const char *report_ink(const struct report_style *s, enum ink i) {
    static const char *const codes[] = {"\033[0m", "\033[1m", "\033[2m", "\033[32m", "\033[33m", "\033[31m"};
    return s->colour ? codes[i] : "";
}

enum ink report_ink_of(enum verdict v) {
    return v == V_AC ? INK_GOOD : v == V_PART || v == V_IE || v == V_FLAG ? INK_WARN : INK_BAD;
}

void report_source_line(const struct buf *text, unsigned n, bool trim, struct buf *out) {
    const char *s = buf_str(text);
    for (; n > 1 && *s; n--) {
        const char *end = strchr(s, '\n');
        s = end ? end + 1 : "";
    }
    while (trim && (*s == ' ' || *s == '\t')) s++;
    size_t length = strcspn(s, "\n");
    while (length && s[length - 1] == '\r') length--;
    buf_add(out, s, length);
}

static unsigned width_of(const char *s, size_t n) {
    unsigned width = 0;
    for (size_t i = 0; i < n; i++) width += ((unsigned char)s[i] & 0xc0) != 0x80;
    return width;
}

/* Wraps at blanks; every line starts with `indent` blanks. */
static void wrapped(const char *text, unsigned indent, const struct report_style *style, struct buf *out) {
    unsigned width = style->width > indent + 30 ? style->width : 1u << 30;
    if (width > 110 && width < 1u << 30) width = 110;
    while (*text) {
        size_t line = strcspn(text, "\n");
        unsigned column = indent;
        buf_printf(out, "%*s", (int)indent, "");
        for (const char *p = text, *end = text + line; p < end;) {
            size_t word = strcspn(p, " \n"), blanks = strspn(p + word, " ");
            unsigned w = width_of(p, word);
            if (column > indent && column + w > width) {
                buf_printf(out, "\n%*s", (int)indent, "");
                column = indent;
            }
            buf_add(out, p, word);
            bool more = p + word + blanks < end;
            if (more) buf_printf(out, "%*s", (int)blanks, "");
            column += w + (unsigned)blanks;
            p += word + blanks;
        }
        buf_puts(out, "\n");
        text += line + (text[line] == '\n');
    }
}

/* As it stands, indented: tables of wrong elements, compiler messages. */
static void verbatim(const char *text, unsigned indent, struct buf *out) {
    while (*text) {
        size_t n = strcspn(text, "\n");
        if (n) buf_printf(out, "%*s%.*s", (int)indent, "", (int)n, text);
        buf_puts(out, "\n");
        text += n + (text[n] == '\n');
    }
}

static void head(const struct result *r, const struct report_style *s, struct buf *out) {
    buf_printf(out, "%s%s%s  %s%s%s", report_ink(s, INK_BOLD), r->id, report_ink(s, INK_NONE),
               report_ink(s, report_ink_of(r->verdict)), verdict_code(r->verdict), report_ink(s, INK_NONE));
    buf_printf(out, " (%s)", verdict_text(r->verdict));
    if (verdict_scored(r->verdict)) buf_printf(out, "  %.1f of %.0f points", r->score, r->max_score);
    buf_printf(out, "\n  %s%s%s\n", report_ink(s, INK_DIM), r->ex->title, report_ink(s, INK_NONE));
    enum ink how = jail_disabled() ? INK_BAD : INK_DIM;
    buf_printf(out, "  %s%-10s %s%s\n", report_ink(s, how), "jail", jail_tier(), report_ink(s, INK_NONE));
}

static void cases(const struct result *r, const struct report_style *s, struct buf *out) {
    unsigned passed = 0, shown = 0;
    for (unsigned i = 0; i < r->ncases; i++) passed += r->cases[i].verdict == V_AC;
    if (!r->ncases) return;
    buf_printf(out, "  %-10s %s%u of %u cases%s\n", "correct", report_ink(s, passed == r->ncases ? INK_GOOD : INK_BAD),
               passed, r->ncases, report_ink(s, INK_NONE));
    for (unsigned i = 0; i < r->ncases; i++) {
        const struct case_result *c = &r->cases[i];
        if (c->verdict == V_AC) continue;
        if (shown++ == FAILURES_IN_FULL) buf_puts(out, "    also:\n");
        buf_printf(out, "    %s%-4s%s %s\n", report_ink(s, report_ink_of(c->verdict)), verdict_code(c->verdict),
                   report_ink(s, INK_NONE), c->name);
        if (shown <= FAILURES_IN_FULL) verbatim(c->message, 9, out);
    }
}

static void value(const struct technique_result *t, struct buf *out) {
    buf_printf(out, "%s is %.6g%s%s, %s %.6g", t->metric, t->value, t->unit ? " per " : "", t->unit ? t->unit : "",
               t->at_most ? "at most" : "at least", t->limit);
}

static bool same_check(const struct result *r, unsigned i, unsigned k) {
    return !strcmp(r->technique[i].name, r->technique[k].name);
}

/* Limits that stand in one test are one check: `end` is where the next one starts. */
static bool check_passed(const struct result *r, unsigned first, unsigned *end) {
    bool passed = true;
    for (*end = first; *end < r->ntechnique && same_check(r, first, *end); ++*end)
        passed = passed && r->technique[*end].passed;
    return passed;
}

static void failing(const struct result *r, const struct technique_result *t, const struct report_style *s,
                    struct buf *out) {
    if (t->line && !strcmp(t->file, r->file)) {
        struct buf line = {0};
        report_source_line(&r->source, t->line, true, &line);
        buf_printf(out, "%9s%s%u |%s ", "", report_ink(s, INK_DIM), t->line, report_ink(s, INK_NONE));
        text_clean(out, buf_str(&line), line.size, 300);
        buf_puts(out, "\n");
        buf_free(&line);
    }
    wrapped(t->reason, 9, s, out);
}

static void one_check(const struct result *r, unsigned first, unsigned end, bool passed, const struct report_style *s,
                      struct buf *out) {
    const struct technique_result *last = &r->technique[end - 1]; /* a test ends at the limit that it fails */
    buf_printf(out, "    %s%s%s %s %s%s%s", report_ink(s, passed ? INK_GOOD : INK_WARN), passed ? "ok  " : "FAIL",
               report_ink(s, INK_NONE), last->guard ? "guard" : "goal ", passed ? "" : report_ink(s, INK_BOLD),
               last->name, passed ? "" : report_ink(s, INK_NONE));
    if (!passed && last->file[0]) buf_printf(out, "  %s:%u", last->file, last->line);
    buf_puts(out, "\n");
    for (unsigned i = first; i < end; i++) {
        if (!r->technique[i].metric[0]) continue;
        buf_printf(out, "%9s%s", "", r->technique[i].passed ? "" : report_ink(s, INK_WARN));
        value(&r->technique[i], out);
        buf_printf(out, "%s\n", r->technique[i].passed ? "" : report_ink(s, INK_NONE));
    }
    if (!passed) failing(r, last, s, out);
}

static void technique(const struct result *r, const struct report_style *s, struct buf *out) {
    const struct check_counts *n = &r->checks;
    if (!n->goals && !n->guards) return;
    bool all = n->reached == n->goals && n->kept == n->guards;
    buf_printf(out, "  %-10s %s%u of %u goal%s reached", "technique", report_ink(s, all ? INK_GOOD : INK_WARN),
               n->reached, n->goals, n->goals == 1 ? "" : "s");
    if (n->guards) buf_printf(out, ", %u of %u guard%s kept", n->kept, n->guards, n->guards == 1 ? "" : "s");
    buf_printf(out, "%s\n", report_ink(s, INK_NONE));
    for (unsigned i = 0, end; i < r->ntechnique; i = end) {
        bool ok = check_passed(r, i, &end);
        one_check(r, i, end, ok, s, out);
    }
}

static void time_of(double us, struct buf *out) {
    if (us >= 1e4) buf_printf(out, "%.4g ms", us / 1e3);
    else buf_printf(out, "%.4g us", us);
}

/* What ends it, and how far it is from the least that the problem needs. */
static void limits(const struct speed_result *p, const struct report_style *s, struct buf *out) {
    struct buf text = {0};
    if (p->bound_by[0]) buf_printf(&text, "bound by: %s\n", p->bound_by);
    if (p->of_roofline > 0) {
        buf_printf(&text, "%.0f %% of the roofline: the problem's bytes and operations alone would take ",
                   100 * p->of_roofline);
        time_of(p->student_us * p->of_roofline, &text);
        buf_puts(&text, "\n");
    }
    if (!strcmp(p->kind, "modelled")) {
        buf_puts(&text, "likely between ");
        time_of(p->low_us, &text), buf_puts(&text, " and "), time_of(p->high_us, &text);
        buf_puts(&text, "; docs/time-model.md says how far to trust that\n");
    }
    wrapped(buf_str(&text), 13, s, out);
    buf_free(&text);
}

void report_speed(const struct result *r, const struct gpu_device *d, const struct report_style *s, struct buf *out) {
    const struct speed_result *p = &r->speed;
    if (!p->valid) {
        if (p->note[0]) buf_printf(out, "  %-10s not known: %s\n", "speed", p->note);
        return;
    }
    buf_printf(out, "  %-10s ", "speed");
    time_of(p->student_us, out);
    buf_printf(out, ", %s%.2f of the model answer's speed%s", report_ink(s, INK_BOLD), p->vs_solution,
               report_ink(s, INK_NONE));
    if (p->baseline_us > 0) buf_printf(out, ", %.2f times the naive version's", p->vs_baseline);
    buf_printf(out, "\n%13s%s for %s on %s; model answer ", "", p->kind, p->size, d->full_name);
    time_of(p->solution_us, out);
    if (p->baseline_us > 0) buf_puts(out, ", naive "), time_of(p->baseline_us, out);
    buf_puts(out, "\n");
    limits(p, s, out);
    if (p->note[0]) wrapped(p->note, 13, s, out);
}

/* Every point that was not awarded, and why. */
static void missing(const struct result *r, const struct report_style *s, struct buf *out) {
    if (r->verdict == V_FLAG) buf_puts(out, "  No points are given or refused until a person has looked at it.\n");
    if (r->verdict == V_IE)
        buf_puts(out, "  This is a fault of the grader or the machine, not of the submission. It is not "
                      "scored; run it again.\n");
    for (unsigned i = 0; i < r->nmissing; i++)
        buf_printf(out, "  %-10s %.1f points: %s\n", i ? "" : "missing", r->missing[i].points, r->missing[i].why);
    if (r->full.correctness + r->full.technique > 0 && !r->speed_counted && r->full.speed > 0)
        buf_printf(out, "  %s%-10s %.0f speed points: no measured time, the rest is scaled to %.0f%s\n",
                   report_ink(s, INK_DIM), "left out", r->full.speed, r->max_score, report_ink(s, INK_NONE));
}

static void next(const struct result *r, const struct report_style *s, struct buf *out) {
    const char *name = r->ex->name;
    buf_printf(out, "  %s", report_ink(s, INK_DIM));
    if (r->verdict == V_AC)
        buf_printf(out, "next       compare with the steps of the ladder: build/grader solution %s", name);
    else if (r->verdict == V_PART)
        buf_printf(out, "next       build/grader profile %s   build/grader hint %s", name, name);
    else if (r->verdict != V_IE) buf_printf(out, "next       build/grader hint %s", name);
    buf_printf(out, "%s\n", report_ink(s, INK_NONE));
}

void report_text(const struct result *r, const struct gpu_device *d, const struct report_style *s, struct buf *out) {
    head(r, s, out);
    verbatim(r->message, 4, out);
    cases(r, s, out);
    technique(r, s, out);
    report_speed(r, d, s, out);
    missing(r, s, out);
    if (r->log.size) {
        buf_puts(out, "  printed:\n");
        verbatim(buf_str(&r->log), 4, out);
    }
    next(r, s, out);
}

/* ---- the table ---- */

/* The failing check that matters most: the first one. */
static void first_fault(const struct result *r, struct buf *out) {
    for (unsigned i = 0; i < r->ncases; i++)
        if (r->cases[i].verdict != V_AC) {
            buf_printf(out, "%s: %.*s", r->cases[i].name, (int)strcspn(r->cases[i].message, "\n"), r->cases[i].message);
            return;
        }
    for (unsigned i = 0; i < r->ntechnique; i++)
        if (!r->technique[i].passed) {
            if (r->technique[i].file[0]) buf_printf(out, "%s:%u ", r->technique[i].file, r->technique[i].line);
            buf_printf(out, "%s %.4g > %.4g", r->technique[i].metric, r->technique[i].value, r->technique[i].limit);
            if (!r->technique[i].at_most) text_replace(out, " > ", " < ");
            return;
        }
    if (r->message[0])
        report_source_line(&(struct buf){.data = (char *)r->message, .size = strlen(r->message)}, 1, true, out);
}

static unsigned longest_id(const struct result *const *results, unsigned n) {
    unsigned width = 8;
    for (unsigned i = 0; i < n; i++)
        if (strlen(results[i]->id) > width) width = (unsigned)strlen(results[i]->id);
    return width;
}

void report_table(const struct result *const *results, unsigned n, const struct report_style *s, struct buf *out) {
    unsigned width = longest_id(results, n), passed = 0;
    buf_printf(out, "%s%-*s  %-8s %6s  %-22s  %s%s\n", report_ink(s, INK_BOLD), (int)width, "exercise", "verdict",
               "score", "speed (modelled)", "first failing check", report_ink(s, INK_NONE));
    for (unsigned i = 0; i < n; i++) {
        const struct result *r = results[i];
        struct buf fault = {0}, fast = {0};
        char score[32] = "-"; /* no score is no zero */
        if (verdict_scored(r->verdict)) snprintf(score, sizeof score, "%.1f", r->score);
        first_fault(r, &fault);
        if (r->speed.valid) buf_printf(&fast, "%.2f of the answer's", r->speed.vs_solution);
        passed += r->verdict == V_AC;
        buf_printf(out, "%-*s  %s%-8s%s %6s  %-22s  %.100s\n", (int)width, r->id,
                   report_ink(s, report_ink_of(r->verdict)), verdict_code(r->verdict), report_ink(s, INK_NONE), score,
                   buf_str(&fast), buf_str(&fault));
        buf_free(&fault), buf_free(&fast);
    }
    buf_printf(out, "%u of %u passed\n", passed, n);
}
