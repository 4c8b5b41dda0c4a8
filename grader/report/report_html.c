/* report_html.c — the report of one exercise as a page that stands alone, without a script
 * (grader/page). All that comes from a submission goes through page_escape. Pictures:
 * report_pictures.c. */
#include "common/text.h"
#include "grader/jail/jail.h"
#include "grader/report/report.h"
#include "grader/page/page.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char *look_of(enum verdict v) {
    enum ink i = report_ink_of(v);
    return i == INK_GOOD ? "good" : i == INK_WARN ? "warn" : "bad";
}

/* ---- parts ---- */

static void head(const struct result *r, const struct gpu_device *d, struct buf *out) {
    page_open(r->id, NULL, out);
    buf_puts(out, "<h1>");
    page_put(r->id, out);
    buf_printf(out, " <span class=\"%s\">%s</span>", look_of(r->verdict), verdict_code(r->verdict));
    if (r->untouched) buf_puts(out, " not started");
    else if (verdict_scored(r->verdict)) buf_printf(out, " %.1f of %.0f", r->score, r->max_score);
    buf_puts(out, "</h1>\n");
    page_element("p", "", r->ex->title, out);
    buf_puts(out, "<p class=\"dim\">");
    page_put(r->file, out), buf_puts(out, " on "), page_put(d->full_name, out),
        buf_puts(out, "; jail: "), page_put(jail_describe_tier(), out);
    buf_puts(out, "</p>\n");
    if (r->message[0]) page_element("pre", "", r->message, out);
}

static void missing(const struct result *r, struct buf *out) {
    if (!r->nmissing && !r->waived) return;
    buf_puts(out, "<h2>Points that are missing</h2><table>\n");
    for (unsigned i = 0; i < r->nmissing; i++) {
        buf_printf(out, "<tr><td class=\"n\">%.1f</td>", r->missing[i].points);
        page_element("td", "", r->missing[i].why, out);
        buf_puts(out, "</tr>\n");
    }
    buf_puts(out, "</table>\n");
    struct buf why = {0};
    report_why(r, &why);
    if (why.size)
        buf_puts(out, "<p>Points and time: "), page_put(buf_str(&why), out),
            buf_puts(out, "</p>\n");
    buf_free(&why);
    if (r->waived)
        buf_puts(out, "<p>Goals that it misses are waived: it is faster than the model answer, "
                      "keeps all guards, and its "
                      "whole result was checked.</p>\n");
}

static void cases(const struct result *r, struct buf *out) {
    unsigned passed = 0;
    for (unsigned i = 0; i < r->ncases; i++) passed += r->cases[i].verdict == V_AC;
    if (!r->ncases) return;
    buf_printf(out, "<h2>Correctness: %u of %u cases</h2>\n", passed, r->ncases);
    for (unsigned i = 0; i < r->ncases; i++) {
        const struct case_result *c = &r->cases[i];
        if (c->verdict == V_AC) continue;
        buf_printf(out, "<p><strong class=\"%s\">%s</strong> ", look_of(c->verdict),
                   verdict_code(c->verdict));
        page_put(c->name, out);
        buf_puts(out, "</p>");
        page_element("pre", "", c->message, out);
    }
}

static void technique(const struct result *r, struct buf *out) {
    if (!r->ntechnique) return;
    buf_printf(out,
               "<h2>Technique: %u of %u goals, %u of %u guards</h2><div "
               "class=\"scroll\"><table>\n<tr><th></th><th>check</th>"
               "<th>figure</th><th class=\"n\">yours</th><th class=\"n\">limit</th><th "
               "class=\"n\">naive</th><th class=\"n\">"
               "way</th><th>line</th></tr>\n",
               r->checks.reached, r->checks.goals, r->checks.kept, r->checks.guards);
    for (unsigned i = 0; i < r->ntechnique; i++) {
        const struct technique_result *t = &r->technique[i];
        buf_printf(out, "<tr><td class=\"%s\">%s</td><td>", t->passed ? "good" : "warn",
                   t->passed ? "ok" : "miss");
        page_put(t->guard ? "guard: " : "goal: ", out), page_put(t->name, out);
        buf_puts(out, "</td><td><code>");
        page_put(t->metric, out), buf_puts(out, "</code>");
        if (t->unit) buf_puts(out, " per "), page_put(t->unit, out);
        buf_puts(out, "</td>");
        page_cell(t->value, out);
        buf_printf(out, "<td class=\"n\">%s ", t->at_most ? "≤" : "≥"), page_number(t->limit, out),
            buf_puts(out, "</td>");
        if (t->naive_known) page_cell(t->naive, out);
        else buf_puts(out, "<td></td>");
        if (t->guard) buf_puts(out, "<td></td><td>");
        else buf_printf(out, "<td class=\"n\">%.0f %%</td><td>", 100 * t->way);
        if (t->line) page_put(t->file, out), buf_printf(out, ":%u", t->line);
        buf_puts(out, "</td></tr>\n");
        if (!t->passed)
            buf_puts(out, "<tr><td></td><td colspan=\"7\" class=\"dim\">"),
                page_put(t->reason, out), buf_puts(out, "</td></tr>\n");
    }
    buf_puts(out, "</table></div>\n");
}

/* A line of the text report each, without its indentation and the first one's name. */
static void paragraphs(const char *text, struct buf *out) {
    for (bool first = true; *text; first = false) {
        text += strspn(text, " ");
        if (first) text += strcspn(text, " "), text += strspn(text, " ");
        size_t n = strcspn(text, "\n");
        buf_puts(out, first ? "<p><strong>" : "<br>");
        page_escape(text, n, out);
        if (first) buf_puts(out, "</strong>");
        buf_puts(out, "\n");
        text += n + (text[n] == '\n');
    }
    buf_puts(out, "</p>\n");
}

static void speed(const struct result *r, const struct gpu_device *d, const struct report_beside *b,
                  struct buf *out) {
    struct report_style plain = {.width = 0};
    struct buf text = {0};
    if (!r->speed.valid && !r->speed.note[0]) return;
    buf_puts(out, "<h2>Speed</h2>\n");
    report_speed(r, d, &plain, &text);
    paragraphs(buf_str(&text), out);
    buf_free(&text);
    if (r->speed.valid) report_picture_times(r, d, b, out);
}

/* ---- source ---- */

static const struct line_result *counted(const struct result *r, unsigned line) {
    for (unsigned i = 0; i < r->nlines; i++)
        if (r->lines[i].line == line && !strcmp(r->lines[i].file, r->file)) return &r->lines[i];
    return NULL;
}

static double share(uint64_t part, uint64_t whole) {
    return whole ? 100.0 * (double)part / (double)whole : 0;
}

static void cell(double percent, struct buf *out) {
    if (percent < 0.05) buf_puts(out, "<td></td>");
    else buf_printf(out, "<td class=\"n\">%.1f</td>", percent);
}

static double seconds_of(const struct line_result *l) {
    double all = 0;
    for (unsigned k = 0; l && k < SIM_STALL_COUNT; k++) all += l->waits[k];
    return all;
}

static double share_of(double part, double whole) { return whole > 0 ? 100 * part / whole : 0; }

/* What a warp waits for most there. */
static void worst_wait(const struct line_result *l, double all_seconds, struct buf *out) {
    unsigned worst = 0;
    for (unsigned k = 1; l && k < SIM_STALL_COUNT; k++)
        if (l->waits[k] > l->waits[worst]) worst = k;
    buf_puts(out, "<td>");
    if (l && share_of(l->waits[worst], all_seconds) >= 1) page_put(sim_stall_text(worst), out);
    buf_puts(out, "</td>");
}

static void source_line(const struct result *r, unsigned n, double all_seconds, struct buf *out) {
    const struct line_result *l = counted(r, n);
    const struct sim_counters *all = &r->counters, none = {0}, *c = l ? &l->counters : &none;
    double inst = share(c->inst_executed, all->inst_executed),
           load = share(c->global_load_sectors, all->global_load_sectors),
           store = share(c->global_store_sectors, all->global_store_sectors),
           shared = share(c->shared_load_wavefronts + c->shared_store_wavefronts,
                          all->shared_load_wavefronts + all->shared_store_wavefronts);
    double time = seconds_of(l),
           heat = fmax(fmax(inst, load), fmax(fmax(store, shared), share_of(time, all_seconds)));
    struct buf raw = {0}, clean = {0};
    report_source_line(&r->source, n, false, &raw);
    text_clean(&clean, buf_str(&raw), raw.size, 400);
    buf_printf(out, "<tr class=\"h%d\"><td class=\"n\">%u</td>",
               heat < 2    ? 0
               : heat < 10 ? 1
               : heat < 25 ? 2
               : heat < 50 ? 3
                           : 4,
               n);
    cell(share_of(time, all_seconds), out), worst_wait(l, all_seconds, out);
    buf_puts(out, "<td>");
    page_escape(buf_str(&clean), clean.size, out);
    buf_puts(out, "</td>");
    cell(inst, out), cell(load, out), cell(store, out), cell(shared, out);
    buf_puts(out, "</tr>\n");
    buf_free(&raw), buf_free(&clean);
}

static void source(const struct result *r, struct buf *out) {
    enum { MAX_LINES = 4000 };
    unsigned total = 1;
    for (size_t i = 0; i + 1 < r->source.size && total < MAX_LINES; i++)
        total += r->source.data[i] == '\n';
    double all_seconds = 0;
    for (unsigned i = 0; i < r->nlines; i++) all_seconds += seconds_of(&r->lines[i]);
    buf_puts(out, "<h2>Source</h2><p class=\"dim\">In %: where warps spend the modelled time, and "
                  "what they wait for there; "
                  "shares of what was counted.</p><div class=\"scroll\"><table class=\"src\">\n"
                  "<tr><th></th><th class=\"n\">time</th><th>waits for</th><th></th><th "
                  "class=\"n\">instr.</th><th "
                  "class=\"n\">load sectors</th>"
                  "<th class=\"n\">store sectors</th><th class=\"n\">shared passes</th></tr>\n");
    for (unsigned n = 1; n <= total; n++) source_line(r, n, all_seconds, out);
    buf_puts(out, "</table></div>\n");
}

static void counters(const struct result *r, struct buf *out) {
    if (!r->has_counters) return;
    buf_puts(out,
             "<h2>All counters</h2><details><summary>of the case that is counted</summary><div "
             "class=\"scroll\"><table>\n");
    for (unsigned i = 0; i < sim_counter_count(); i++) {
        uint64_t v = sim_counter_get(&r->counters, i);
        if (v)
            buf_printf(out, "<tr><td><code>%s</code></td><td class=\"n\">%llu</td></tr>\n",
                       sim_counter_name(i), (unsigned long long)v);
    }
    buf_puts(out, "</table></div></details>\n");
}

void report_html(const struct result *r, const struct gpu_device *d,
                 const struct report_beside *beside, struct buf *out) {
    static const struct report_beside nothing;
    const struct report_beside *b = beside ? beside : &nothing;
    head(r, d, out);
    missing(r, out);
    cases(r, out);
    technique(r, out);
    speed(r, d, b, out);
    report_picture_kernels(r, out);
    report_picture_accesses(r, b, out);
    report_picture_divergence(r, out);
    source(r, out);
    report_picture_history(b, out);
    counters(r, out);
    if (r->log.size) {
        buf_puts(out, "<h2>Printed</h2>\n");
        page_element("pre", "", buf_str(&r->log), out);
    }
    page_close(NULL, out);
}
