/* report_text.c — the report for the student: first what failed and where, then what it cost, then
 * what to do next. */
#include "grader/jail/jail.h"
#include "common/text.h"
#include "common/where.h"
#include "grader/book/book.h"
#include "grader/grade/score.h"
#include "grader/page/page.h"
#include "grader/report/report.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { FAILURES_NAMED = 6 };

const char *report_ink(const struct report_style *s, enum ink i) {
    static const char *const codes[] = {"\033[0m",  "\033[1m",  "\033[2m",
                                        "\033[32m", "\033[33m", "\033[31m"};
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

/* "transpose.cu:7:", as editors and people find it, and what stands there. */
static void quote(const struct result *r, const char *file, unsigned line, unsigned indent,
                  const struct report_style *s, struct buf *out) {
    buf_printf(out, "%*s%s:%u:\n", (int)indent, "", file, line);
    if (strcmp(file, r->file) != 0) return;
    struct buf raw = {0}, clean = {0};
    report_source_line(&r->source, line, true, &raw);
    text_clean(&clean, buf_str(&raw), raw.size, 300);
    buf_printf(out, "%*s%s|%s ", (int)indent, "", report_ink(s, INK_DIM), report_ink(s, INK_NONE));
    report_hanging(clean.size ? buf_str(&clean) : "\n", indent + 2, s, out);
    buf_free(&raw), buf_free(&clean);
}

/* Reports of races come with their lines (common/quote.h). */
static bool quotes_itself(const char *message, unsigned line) {
    char mark[32];
    snprintf(mark, sizeof mark, "\n%5u | ", line);
    return strstr(message, mark);
}

/* The lines of the student's file that a message names, the first two of them. */
static void quote_named(const struct result *r, const char *message, const struct report_style *s,
                        struct buf *out) {
    enum { MOST = 2 };
    unsigned shown[MOST], n = 0;
    size_t length = strlen(r->file);
    for (const char *p = message; length && n < MOST && (p = strstr(p, r->file)); p += length) {
        unsigned line = 0;
        if (sscanf(p + length, ":%u", &line) != 1 || !line || (n && shown[0] == line)) continue;
        if (quotes_itself(message, line)) continue;
        quote(r, r->file, line, 9, s, out);
        shown[n++] = line;
    }
}

static void one_case(const struct result *r, unsigned i, bool in_full, const struct report_style *s,
                     struct buf *out) {
    const struct case_result *c = &r->cases[i];
    struct buf head = {0};
    if (c->number && !r->partial) buf_printf(&head, "case %u, ", c->number);
    buf_printf(&head, "%s", c->name);
    buf_printf(out, "    %s%-4s%s ", report_ink(s, report_ink_of(c->verdict)),
               verdict_code(c->verdict), report_ink(s, INK_NONE));
    report_hanging(buf_str(&head), 9, s, out);
    buf_free(&head);
    if (!in_full) return;
    report_wrapped(c->message, 9, s, out);
    quote_named(r, c->message, s, out);
}

/* The first failing case of each verdict in full, that of the whole result's first; then how many
 * more there are. */
static void cases(const struct result *r, const struct report_style *s, struct buf *out) {
    unsigned passed = 0, more[V_COUNT] = {0}, rest = 0;
    for (unsigned i = 0; i < r->ncases; i++) passed += r->cases[i].verdict == V_AC;
    if (!r->ncases) return;
    buf_printf(out, "  %-10s %s%u of %u cases%s", "correct",
               report_ink(s, passed == r->ncases ? INK_GOOD : INK_BAD), passed, r->ncases,
               report_ink(s, INK_NONE));
    if (r->nhidden) buf_printf(out, ", %u of them hidden", r->nhidden);
    buf_puts(out, "\n");
    for (int v = V_COUNT - 1; v > V_AC; v--) {
        bool first = true;
        for (unsigned i = 0; i < r->ncases; i++) {
            if ((int)r->cases[i].verdict != v) continue;
            if (first) one_case(r, i, true, s, out);
            else more[v]++, rest++;
            first = false;
        }
    }
    struct buf text = {0};
    for (int v = V_COUNT - 1; v > V_AC; v--)
        if (more[v])
            buf_printf(&text, "%s%u more %s", text.size ? ", " : "", more[v],
                       verdict_code((enum verdict)v));
    if (rest <= FAILURES_NAMED && rest) buf_puts(&text, ": ");
    for (unsigned i = 0, n = 0, seen[V_COUNT] = {0}; i < r->ncases && rest <= FAILURES_NAMED; i++)
        if (r->cases[i].verdict != V_AC && seen[r->cases[i].verdict]++)
            buf_printf(&text, "%s%s", n++ ? "; " : "", r->cases[i].name);
    report_wrapped(buf_str(&text), 9, s, out);
    buf_free(&text);
}

/* "32, at most 4.5"; in full where rounding would make them equal. */
static void value(const struct technique_result *t, struct buf *out) {
    struct buf is = {0}, bound = {0};
    page_number(t->value, &is), page_number(t->limit, &bound);
    if (!t->passed && !strcmp(buf_str(&is), buf_str(&bound))) {
        buf_clear(&is), buf_clear(&bound);
        buf_printf(&is, "%.9g", t->value), buf_printf(&bound, "%.9g", t->limit);
    }
    buf_printf(out, "%s is %s%s%s, %s %s", t->metric, buf_str(&is), t->unit ? " per " : "",
               t->unit ? t->unit : "", t->at_most ? "at most" : "at least", buf_str(&bound));
    buf_free(&is), buf_free(&bound);
}

/* The goal or guard that costs most, and its figure that decides. */
static const struct technique_result *first_miss(const struct result *r) {
    const struct technique_result *worst = NULL;
    for (unsigned i = 0; i < r->ntechnique; i++) {
        const struct technique_result *t = &r->technique[i];
        if (t->passed || (r->waived && !t->guard)) continue;
        if (!worst || (t->guard && !worst->guard) ||
            (t->guard == worst->guard && t->way < worst->way))
            worst = t;
    }
    return worst;
}

static const struct case_result *first_failure(const struct result *r) {
    const struct case_result *any = NULL;
    for (unsigned i = 0; i < r->ncases; i++) {
        const struct case_result *c = &r->cases[i];
        if (c->verdict == r->verdict && c->verdict != V_AC) return c;
        if (c->verdict != V_AC && !any) any = c;
    }
    return any;
}

/* "out-of-bounds: transpose.cu:7: kernel …" becomes "transpose.cu:7: out-of-bounds: kernel …". */
static void place_first(const char *message, const char *file, struct buf *out) {
    size_t n = strcspn(message, "\n"), length = strlen(file);
    const char *at = length ? memmem(message, n, file, length) : NULL;
    unsigned line = 0;
    int used = 0;
    bool placed = at && at > message && sscanf(at + length, ":%u: %n", &line, &used) == 1 && used;
    if (!placed) buf_add(out, message, n);
    else {
        buf_printf(out, "%s:%u: ", file, line);
        buf_add(out, message, (size_t)(at - message));
        buf_add(out, at + length + used, n - (size_t)(at - message) - length - (size_t)used);
    }
}

/* nvcc's "transpose.cu(6): error: …" becomes "transpose.cu:6: error: …"; the first error, or the
 * first line if there is none. */
static void compilers_words(const char *message, struct buf *out) {
    const char *error = strstr(message, "): error"), *line = message;
    for (const char *p = message; error && p < error; p++)
        if (*p == '\n') line = p + 1;
    size_t n = strcspn(line, "\n"), name = strcspn(line, "(\n"), digits = 0;
    if (line[name] == '(') digits = strspn(line + name + 1, "0123456789");
    bool placed = digits && !strncmp(line + name + 1 + digits, "):", 2);
    if (!placed) buf_add(out, line, n);
    else {
        buf_printf(out, "%.*s:%.*s:", (int)name, line, (int)digits, line + name + 1);
        size_t rest = name + digits + 3;
        buf_add(out, line + rest, n - rest);
    }
}

/* "3 of 3 elements of `out` are wrong:" goes on with the first of them, as words. */
static void first_row(const char *message, struct buf *out) {
    const char *p = message + strcspn(message, "\n");
    if (!out->size || out->data[out->size - 1] != ':') return;
    for (p += *p == '\n'; *p && *p != '\n';) {
        size_t blanks = strspn(p, " "), word = strcspn(p + blanks, " \n");
        if (word) buf_printf(out, " %.*s", (int)word, p + blanks);
        p += blanks + word;
    }
}

void report_fault(const struct result *r, struct buf *out) {
    const struct case_result *c = first_failure(r);
    const struct technique_result *t = c ? NULL : first_miss(r);
    if (c && c->secret) buf_printf(out, "%s: %s", c->name, c->message);
    else if (c) {
        place_first(c->message, r->file, out), first_row(c->message, out);
        if (!text_starts(buf_str(out), r->file)) buf_printf(out, " (%s)", c->name);
    } else if (t) {
        if (t->file[0]) buf_printf(out, "%s:%u: ", t->file, t->line);
        buf_printf(out, "%s: %s", t->guard ? "guard not kept" : "goal not reached", t->name);
        if (t->metric[0]) buf_puts(out, ": "), value(t, out);
    } else if (r->message[0]) compilers_words(r->message, out);
}

/* In the form that editors jump by, at the beginning of a line: what to look at first. */
static void first_cause(const struct result *r, const struct report_style *s, struct buf *out) {
    struct buf text = {0};
    report_fault(r, &text);
    if (text.size && r->verdict != V_AC) report_wrapped(buf_str(&text), 0, s, out);
    buf_free(&text);
}

static void head(const struct result *r, const struct report_style *s, struct buf *out) {
    buf_printf(out, "%s%s%s  %s%s%s", report_ink(s, INK_BOLD), r->id, report_ink(s, INK_NONE),
               report_ink(s, report_ink_of(r->verdict)), verdict_code(r->verdict),
               report_ink(s, INK_NONE));
    buf_printf(out, " (%s)", verdict_text(r->verdict));
    if (r->partial) buf_puts(out, "  this case alone, no points");
    else if (r->untouched) buf_puts(out, "  not started");
    else if (verdict_scored(r->verdict))
        buf_printf(out, "  %.1f of %.0f points", r->score, r->max_score);
    buf_puts(out, "\n");
    first_cause(r, s, out);
    if (s->brief) return;
    buf_printf(out, "  %s%s%s\n", report_ink(s, INK_DIM), r->ex->title, report_ink(s, INK_NONE));
    enum ink how = jail_disabled() ? INK_BAD : INK_DIM;
    buf_printf(out, "  %s%-10s %s%s\n", report_ink(s, how), "jail", jail_describe_tier(),
               report_ink(s, INK_NONE));
}

static bool same_check(const struct result *r, unsigned i, unsigned k) {
    return r->technique[i].test == r->technique[k].test &&
           r->technique[i].guard == r->technique[k].guard;
}

/* Limits that stand in one test are one check: `end` is where the next one starts. */
static bool check_passed(const struct result *r, unsigned first, unsigned *end) {
    bool passed = true;
    for (*end = first; *end < r->ntechnique && same_check(r, first, *end); ++*end)
        passed = passed && r->technique[*end].passed;
    return passed;
}

/* Where, and why the limit stands there; what the miss before it in the same check said is not said
 * again. */
static void failing(const struct result *r, const struct technique_result *t,
                    const struct technique_result *before, const struct report_style *s,
                    struct buf *out) {
    bool placed = before && before->line == t->line && !strcmp(before->file, t->file);
    if (!before || strcmp(before->reason, t->reason) != 0) report_wrapped(t->reason, 9, s, out);
    if (t->file[0] && !placed) quote(r, t->file, t->line, 9, s, out);
}

/* The figure of a check that decides: the one that is furthest from its limit. */
static const struct technique_result *decisive(const struct result *r, unsigned first,
                                               unsigned end) {
    const struct technique_result *worst = NULL;
    for (unsigned i = first; i < end; i++)
        if (!r->technique[i].passed && (!worst || r->technique[i].way < worst->way))
            worst = &r->technique[i];
    return worst ? worst : &r->technique[first];
}

static void one_figure(const struct result *r, const struct technique_result *t,
                       const struct technique_result *before, const struct report_style *s,
                       struct buf *out) {
    struct buf text = {0};
    buf_printf(out, "    %s%-4s%s ", report_ink(s, t->passed ? INK_NONE : INK_WARN),
               t->passed ? "" : "miss", report_ink(s, INK_NONE));
    if (t->metric[0]) value(t, &text);
    if (!t->passed && t->naive_known) buf_puts(&text, "; naive "), page_number(t->naive, &text);
    if (text.size) report_hanging(buf_str(&text), 9, s, out);
    else buf_puts(out, "\n");
    buf_free(&text);
    if (!t->passed) failing(r, t, before, s, out);
}

/* The same limit of a check above, which is missed there, too; or NULL. */
static const struct technique_result *said_above(const struct result *r, unsigned i,
                                                 unsigned first) {
    const struct technique_result *t = &r->technique[i];
    for (unsigned k = 0; k < first; k++) {
        const struct technique_result *o = &r->technique[k];
        bool same =
            o->at_most == t->at_most && o->limit == t->limit && !strcmp(o->metric, t->metric);
        if (same && !o->passed && !strcmp(o->unit ? o->unit : "", t->unit ? t->unit : "")) return o;
    }
    return NULL;
}

static void one_check(const struct result *r, unsigned first, unsigned end, bool passed,
                      const struct report_style *s, struct buf *out) {
    const struct technique_result *worst = decisive(r, first, end);
    bool waived = !passed && !worst->guard && r->waived;
    buf_printf(out, "    %s%s%s %s %s%s%s", report_ink(s, passed || waived ? INK_GOOD : INK_WARN),
               passed   ? "ok  "
               : waived ? "--  "
                        : "FAIL",
               report_ink(s, INK_NONE), worst->guard ? "guard" : "goal ",
               passed ? "" : report_ink(s, INK_BOLD), worst->name,
               passed ? "" : report_ink(s, INK_NONE));
    if (waived) buf_puts(out, "  waived");
    else if (!passed && !worst->guard && worst->way > 0)
        buf_printf(out, "  %.0f %% of the way", 100 * worst->way);
    buf_puts(out, "\n");
    const struct technique_result *before = NULL;
    for (unsigned i = first; i < end; i++) {
        const struct technique_result *t = &r->technique[i],
                                      *above = t->passed ? NULL : said_above(r, i, first);
        if (above)
            buf_printf(out, "    %smiss%s %s: as in \"%s\"\n", report_ink(s, INK_WARN),
                       report_ink(s, INK_NONE), t->metric, above->name);
        else if (!s->brief || !t->passed) one_figure(r, t, before, s, out);
        if (!t->passed && !above) before = t;
    }
}

static void technique(const struct result *r, const struct report_style *s, struct buf *out) {
    const struct check_counts *n = &r->checks;
    if (!n->goals && !n->guards) return;
    bool all = n->reached == n->goals && n->kept == n->guards;
    buf_printf(out, "  %-10s %s%u of %u goal%s reached", "technique",
               report_ink(s, all ? INK_GOOD : INK_WARN), n->reached, n->goals,
               n->goals == 1 ? "" : "s");
    if (n->guards)
        buf_printf(out, ", %u of %u guard%s kept", n->kept, n->guards, n->guards == 1 ? "" : "s");
    buf_printf(out, "%s\n", report_ink(s, INK_NONE));
    for (unsigned i = 0, end; i < r->ntechnique; i = end) {
        bool ok = check_passed(r, i, &end);
        one_check(r, i, end, ok, s, out);
    }
}

/* The problem's own bytes and operations over the time, beside what the device can: "3 910 of 4 300
 * GB/s". */
static void achieved(const struct speed_result *p, const struct gpu_device *d, struct buf *out) {
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
    if (p->bytes > 0 || p->flops > 0) buf_puts(out, " (the problem's own bytes and operations)\n");
    if (p->of_roofline <= 0) return;
    buf_printf(out, "%.0f %% of the roofline: those bytes and operations alone would take ",
               100 * p->of_roofline);
    page_time(p->student_us * p->of_roofline, out);
    buf_puts(out, "\n");
}

/* What ends it, and how far it is from the least that the problem needs. */
static void limits(const struct speed_result *p, const struct gpu_device *d,
                   const struct report_style *s, struct buf *out) {
    struct buf text = {0};
    if (p->bound_by[0]) buf_printf(&text, "bound by: %s\n", p->bound_by);
    achieved(p, d, &text);
    if (!strcmp(p->kind, "modelled")) {
        buf_puts(&text, "likely between ");
        page_time(p->low_us, &text), buf_puts(&text, " and "), page_time(p->high_us, &text);
        buf_puts(&text, "; docs/time-model.md says how far to trust that\n");
    }
    report_wrapped(buf_str(&text), 13, s, out);
    buf_free(&text);
}

/* Where there are several kernels: "sums 62 % in 3 launches, apply 38 %". */
static void by_kernel(const struct result *r, const struct report_style *s, struct buf *out) {
    struct buf text = {0};
    double all = 0;
    for (unsigned i = 0; i < r->ntimes; i++) all += r->times[i].us;
    if (r->ntimes < 2 || !(all > 0) || strcmp(r->speed.kind, "modelled")) return;
    buf_puts(&text, "by kernel: ");
    for (unsigned i = 0; i < r->ntimes; i++) {
        const struct kernel_time *k = &r->times[i];
        buf_printf(&text, "%s%s %.0f %%", i ? ", " : "", k->name, 100 * k->us / all);
        if (k->launches > 1) buf_printf(&text, " in %u launches", k->launches);
    }
    report_wrapped(buf_str(&text), 13, s, out);
    buf_free(&text);
}

void report_speed(const struct result *r, const struct gpu_device *d, const struct report_style *s,
                  struct buf *out) {
    const struct speed_result *p = &r->speed;
    if (!p->valid) {
        if (p->note[0]) buf_printf(out, "  %-10s not known: %s\n", "speed", p->note);
        return;
    }
    buf_printf(out, "  %-10s ", "speed");
    page_time(p->student_us, out);
    buf_printf(out, ", %s%.2f of the model answer's speed%s", report_ink(s, INK_BOLD),
               p->vs_solution, report_ink(s, INK_NONE));
    if (p->baseline_us > 0) buf_printf(out, ", %.2f of the naive one's", p->vs_baseline);
    struct buf text = {0};
    buf_printf(&text, "%s for %s on %s; model answer ", p->kind, p->size, d->full_name);
    page_time(p->solution_us, &text);
    if (p->baseline_us > 0) buf_puts(&text, ", naive "), page_time(p->baseline_us, &text);
    buf_puts(out, "\n");
    report_wrapped(buf_str(&text), 13, s, out);
    buf_free(&text);
    struct buf bound = {0};
    if (p->bound_by[0] && s->brief)
        buf_printf(&bound, "bound by: %s", p->bound_by),
            report_wrapped(buf_str(&bound), 13, s, out);
    buf_free(&bound);
    if (s->brief) return;
    limits(p, d, s, out);
    by_kernel(r, s, out);
    if (p->note[0]) report_wrapped(p->note, 13, s, out);
}

static void why_not_both(const struct result *r, const struct report_style *s, struct buf *out) {
    struct buf text = {0};
    report_why(r, &text);
    if (text.size) buf_puts(out, "  score/time "), report_hanging(buf_str(&text), 13, s, out);
    buf_free(&text);
}

/* Every point that was not awarded, and why. */
static void missing(const struct result *r, const struct report_style *s, struct buf *out) {
    if (r->verdict == V_FLAG)
        buf_puts(out, "  No points are given or refused until a person has looked at it.\n");
    if (r->verdict == V_IE)
        report_wrapped("This is a fault of the grader or the machine, not of the submission. It is "
                       "not scored. Run it again; "
                       "where the message names what the simulated GPU can't run, that gives the "
                       "same: write it another way.",
                       2, s, out);
    if (r->waived)
        report_wrapped(
            "waived: goals that it misses count as reached, since it is faster than the model "
            "answer beyond the "
            "model's error, keeps all guards, and its whole result was checked at the timed size",
            2, s, out);
    for (unsigned i = 0; i < r->nmissing; i++) {
        struct buf text = {0};
        buf_printf(&text, "%.1f points: %s", r->missing[i].points, r->missing[i].why);
        buf_printf(out, "  %-10s ", i ? "" : "missing");
        report_hanging(buf_str(&text), 13, s, out);
        buf_free(&text);
    }
    why_not_both(r, s, out);
    if (r->full.correctness + r->full.technique > 0 && !r->speed_counted && r->full.speed > 0)
        buf_printf(out, "  %s%-10s %.0f speed points: %s; the rest is scaled to %.0f%s\n",
                   report_ink(s, INK_DIM), "left out", r->full.speed,
                   !r->speed.valid ? "no time is known"
                   : r->speed.gain < SCORE_LEAST_GAIN
                       ? "the technique gains next to nothing on this device"
                       : "a modelled time was not to count",
                   r->max_score, report_ink(s, INK_NONE));
}

/* The number of the case that decided, as --case wants it; 0 = none. */
static unsigned failing_case(const struct result *r) {
    const struct case_result *c = first_failure(r);
    unsigned i = c ? (unsigned)(c - r->cases) : r->ex->ncases;
    return i < r->ex->ncases ? i + 1 : 0;
}

/* Beside one another, or below one another where the width does not hold both: a command is not
 * wrapped. */
static void two_commands(const char *first, const char *second, const struct report_style *s,
                         struct buf *out) {
    bool beside = !s->width || 13 + strlen(first) + 3 + strlen(second) <= s->width;
    buf_printf(out, "  %s%-10s %s", report_ink(s, INK_DIM), "next", first);
    if (*second) buf_printf(out, "%s%s", beside ? "   " : "\n             ", second);
    buf_printf(out, "%s\n", report_ink(s, INK_NONE));
}

static void next(const struct result *r, const struct report_style *s, struct buf *out) {
    const char *name = r->ex->name, *grader = where_typed("grader");
    char first[WHERE_TYPED + 160] = "", second[WHERE_TYPED + 160];
    unsigned number = failing_case(r);
    if (r->partial || r->verdict == V_IE || (r->verdict == V_AC && !book_has_answers())) return;
    snprintf(second, sizeof second, "%s hint %s", grader, name);
    if (r->verdict == V_AC) snprintf(first, sizeof first, "compare with the steps of the ladder:");
    else if (r->verdict == V_PART) snprintf(first, sizeof first, "%s profile %s", grader, name);
    else if (number) snprintf(first, sizeof first, "%s run %s --case %u", grader, name, number);
    if (r->verdict == V_AC) snprintf(second, sizeof second, "%s solution %s", grader, name);
    two_commands(*first ? first : second, *first ? second : "", s, out);
}

/* The assertion in a line that says that a thread failed it; NULL = another line. */
static const char *assertion(const char *line, const char *end) {
    const char *at = memmem(line, (size_t)(end - line), " Assertion `", 12);
    return at && end - line > 8 && !memcmp(end - 8, " failed.", 8) ? at : NULL;
}

static bool same_assertion(const char *line, const char *end, const char *before,
                           const char *before_end) {
    const char *a = assertion(line, end), *b = before ? assertion(before, before_end) : NULL;
    return a && b && end - a == before_end - b && !memcmp(a, b, (size_t)(end - a));
}

static void put_repeats(unsigned repeats, struct buf *out) {
    if (repeats) buf_printf(out, "… and %u more thread%s\n", repeats, repeats == 1 ? "" : "s");
}

/* Each thread that fails an assertion says so: after the first of them a number is enough. */
static void printed(const char *log, struct buf *out) {
    struct buf kept = {0};
    const char *before = NULL, *before_end = NULL;
    unsigned repeats = 0;
    for (const char *line = log, *end; *line; line = end + (*end == '\n')) {
        end = line + strcspn(line, "\n");
        bool again = same_assertion(line, end, before, before_end);
        before = line, before_end = end;
        if (again && ++repeats) continue;
        put_repeats(repeats, &kept), repeats = 0;
        buf_add(&kept, line, (size_t)(end - line)), buf_puts(&kept, "\n");
    }
    put_repeats(repeats, &kept);
    buf_puts(out, "  printed:\n");
    report_verbatim(buf_str(&kept), 4, out);
    buf_free(&kept);
}

void report_text(const struct result *r, const struct gpu_device *d, const struct report_style *s,
                 struct buf *out) {
    head(r, s, out);
    report_wrapped(r->message, 4, s, out);
    cases(r, s, out);
    technique(r, s, out);
    report_speed(r, d, s, out);
    missing(r, s, out);
    if (r->log.size) printed(buf_str(&r->log), out);
    next(r, s, out);
}

/* ---- the table ---- */

static unsigned longest_id(const struct result *const *results, unsigned n) {
    unsigned width = 8;
    for (unsigned i = 0; i < n; i++)
        if (strlen(results[i]->id) > width) width = (unsigned)strlen(results[i]->id);
    return width;
}

/* What a terminal leaves for the last column; a few letters of it say nothing. */
static unsigned room_for_fault(const struct report_style *s, unsigned before) {
    if (!s->width) return 100;
    return s->width < before + 24 ? 0 : s->width - before;
}

void report_table(const struct result *const *results, unsigned n, const struct report_style *s,
                  struct buf *out) {
    unsigned width = longest_id(results, n), passed = 0, room = room_for_fault(s, width + 43);
    buf_printf(out, "%s%-*s  %-8s %6s  %-22s%s%s\n", report_ink(s, INK_BOLD), (int)width,
               "exercise", "verdict", "score", "speed (modelled)",
               room ? "  first failing check" : "", report_ink(s, INK_NONE));
    for (unsigned i = 0; i < n; i++) {
        const struct result *r = results[i];
        struct buf fault = {0}, fast = {0};
        char score[32] = "-"; /* no score is no zero */
        if (verdict_scored(r->verdict)) snprintf(score, sizeof score, "%.1f", r->score);
        report_fault(r, &fault);
        if (r->speed.valid) buf_printf(&fast, "%.2f of the answer's", r->speed.vs_solution);
        passed += r->verdict == V_AC;
        buf_printf(out, "%-*s  %s%-8s%s %6s  %-22s%s%.*s\n", (int)width, r->id,
                   report_ink(s, report_ink_of(r->verdict)), verdict_code(r->verdict),
                   report_ink(s, INK_NONE), score, buf_str(&fast), room ? "  " : "", (int)room,
                   buf_str(&fault));
        buf_free(&fault), buf_free(&fast);
    }
    buf_printf(out, "%u of %u passed\n", passed, n);
}
