/* report_html.c — writes the report of one exercise as a self-contained HTML page without scripts
 * (grader/page). html_escape() escapes everything that comes from a submission. report_pictures.c
 * draws the pictures. */
#include "common/text.h"
#include "grader/jail/jail.h"
#include "grader/report/report.h"
#include "grader/page/page.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char *css_class_of(enum verdict v) {
    enum text_style i = report_verdict_style(v);
    return i == TEXT_STYLE_GOOD ? "good" : i == TEXT_STYLE_WARN ? "warn" : "bad";
}

/* ---- parts ---- */

static void write_header(const struct result *r, const struct gpu_device *d, struct buf *out) {
    page_open(r->id, NULL, out);
    buf_puts(out, "<h1>");
    html_escape_text(r->id, out);
    buf_printf(out, " <span class=\"%s\">%s</span>", css_class_of(r->verdict),
               verdict_code(r->verdict));
    if (r->is_unmodified) buf_puts(out, " not started");
    else if (verdict_has_score(r->verdict))
        buf_printf(out, " %.1f of %.0f", r->score, r->max_score);
    buf_puts(out, "</h1>\n");
    page_element("p", "", r->ex->title, out);
    buf_puts(out, "<p class=\"dim\">");
    html_escape_text(r->file, out), buf_puts(out, " on "), html_escape_text(d->full_name, out),
        buf_puts(out, "; jail: "), html_escape_text(jail_describe_tier(), out);
    buf_puts(out, "</p>\n");
    if (r->message[0]) page_element("pre", "", r->message, out);
}

static void write_points_lost(const struct result *r, struct buf *out) {
    if (!r->npoints_lost && !r->goals_waived) return;
    buf_puts(out, "<h2>Points lost</h2><table>\n");
    for (unsigned i = 0; i < r->npoints_lost; i++) {
        buf_printf(out, "<tr><td class=\"n\">%.1f</td>", r->points_lost[i].points);
        page_element("td", "", r->points_lost[i].reason, out);
        buf_puts(out, "</tr>\n");
    }
    buf_puts(out, "</table>\n");
    struct buf reason = {0};
    report_explain_score(r, &reason);
    if (reason.size)
        buf_puts(out, "<p>Score and time: "), html_escape_text(buf_str(&reason), out),
            buf_puts(out, "</p>\n");
    buf_free(&reason);
    if (r->goals_waived)
        buf_puts(out, "<p>The missed goals are waived: this version is faster than the model "
                      "solution, passes all guards, and its whole output was checked.</p>\n");
}

static void write_cases(const struct result *r, struct buf *out) {
    unsigned passed = 0;
    for (unsigned i = 0; i < r->ncases; i++) passed += r->cases[i].verdict == V_AC;
    if (!r->ncases) return;
    buf_printf(out, "<h2>Correctness: %u of %u cases</h2>\n", passed, r->ncases);
    for (unsigned i = 0; i < r->ncases; i++) {
        const struct case_result *c = &r->cases[i];
        if (c->verdict == V_AC) continue;
        buf_printf(out, "<p><strong class=\"%s\">%s</strong> ", css_class_of(c->verdict),
                   verdict_code(c->verdict));
        html_escape_text(c->name, out);
        buf_puts(out, "</p>");
        page_element("pre", "", c->message, out);
    }
}

static void write_technique(const struct result *r, struct buf *out) {
    if (!r->ntechnique) return;
    buf_printf(out,
               "<h2>Technique: %u of %u goals, %u of %u guards</h2><div "
               "class=\"scroll\" tabindex=\"0\"><table>\n<tr><th></th><th>check</th>"
               "<th>metric</th><th class=\"n\">yours</th><th class=\"n\">limit</th><th "
               "class=\"n\">baseline</th><th class=\"n\">"
               "progress</th><th>line</th></tr>\n",
               r->checks.goals_reached, r->checks.goals, r->checks.guards_passed, r->checks.guards);
    for (unsigned i = 0; i < r->ntechnique; i++) {
        const struct technique_result *t = &r->technique[i];
        buf_printf(out, "<tr><td class=\"%s\">%s</td><td>", t->passed ? "good" : "warn",
                   t->passed ? "ok" : "miss");
        html_escape_text(t->is_guard ? "guard: " : "goal: ", out), html_escape_text(t->name, out);
        buf_puts(out, "</td><td><code>");
        html_escape_text(t->metric, out), buf_puts(out, "</code>");
        if (t->unit) buf_puts(out, " per "), html_escape_text(t->unit, out);
        buf_puts(out, "</td>");
        page_cell(t->value, out);
        buf_printf(out, "<td class=\"n\">%s ", t->is_upper_limit ? "≤" : "≥"),
            page_number(t->limit, out), buf_puts(out, "</td>");
        if (t->has_baseline) page_cell(t->baseline_value, out);
        else buf_puts(out, "<td></td>");
        if (t->is_guard) buf_puts(out, "<td></td><td>");
        else buf_printf(out, "<td class=\"n\">%.0f %%</td><td>", 100 * t->goal_progress);
        if (t->line) html_escape_text(t->file, out), buf_printf(out, ":%u", t->line);
        buf_puts(out, "</td></tr>\n");
        if (!t->passed)
            buf_puts(out, "<tr><td></td><td colspan=\"7\" class=\"dim\">"),
                html_escape_text(t->reason, out), buf_puts(out, "</td></tr>\n");
    }
    buf_puts(out, "</table></div>\n");
}

/* Writes the lines of a section of the text report, without indentation and without the label of
 * the first line. */
static void write_paragraphs(const char *text, struct buf *out) {
    for (bool first = true; *text; first = false) {
        text += strspn(text, " ");
        if (first) text += strcspn(text, " "), text += strspn(text, " ");
        size_t n = strcspn(text, "\n");
        buf_puts(out, first ? "<p><strong>" : "<br>");
        html_escape(text, n, out);
        if (first) buf_puts(out, "</strong>");
        buf_puts(out, "\n");
        text += n + (text[n] == '\n');
    }
    buf_puts(out, "</p>\n");
}

static void write_speed(const struct result *r, const struct gpu_device *d,
                        const struct report_context *b, struct buf *out) {
    struct report_style plain = {.width = 0};
    struct buf text = {0};
    if (!r->speed.valid && !r->speed.note[0]) return;
    buf_puts(out, "<h2>Speed</h2>\n");
    report_speed(r, d, &plain, &text);
    write_paragraphs(buf_str(&text), out);
    buf_free(&text);
    if (r->speed.valid) report_picture_times(r, d, b, out);
}

/* ---- source ---- */

static const struct line_result *find_line(const struct result *r, unsigned line) {
    for (unsigned i = 0; i < r->nlines; i++)
        if (r->lines[i].line == line && !strcmp(r->lines[i].file, r->file)) return &r->lines[i];
    return NULL;
}

static double percent_of_count(uint64_t part, uint64_t total) {
    return total ? 100.0 * (double)part / (double)total : 0;
}

static void write_percent_cell(double percent, struct buf *out) {
    if (percent < 0.05) buf_puts(out, "<td></td>");
    else buf_printf(out, "<td class=\"n\">%.1f</td>", percent);
}

static double total_stall_seconds(const struct line_result *l) {
    double total = 0;
    for (unsigned k = 0; l && k < SIM_STALL_COUNT; k++) total += l->stall_seconds[k];
    return total;
}

static double percent_of(double part, double total) { return total > 0 ? 100 * part / total : 0; }

/* Writes the top stall reason of a line, if it has at least 1 % of the time. */
static void write_top_stall(const struct line_result *l, double total_seconds, struct buf *out) {
    unsigned worst = 0;
    for (unsigned k = 1; l && k < SIM_STALL_COUNT; k++)
        if (l->stall_seconds[k] > l->stall_seconds[worst]) worst = k;
    buf_puts(out, "<td>");
    if (l && percent_of(l->stall_seconds[worst], total_seconds) >= 1)
        html_escape_text(sim_stall_text(worst), out);
    buf_puts(out, "</td>");
}

static uint64_t shared_wavefronts(const struct sim_counters *c) {
    return c->shared_load_wavefronts + c->shared_store_wavefronts + c->shared_atomic_wavefronts;
}

static void write_source_line(const struct result *r, unsigned n, double total_seconds,
                              struct buf *out) {
    const struct line_result *l = find_line(r, n);
    const struct sim_counters *all = &r->counters, none = {0}, *c = l ? &l->counters : &none;
    double inst = percent_of_count(c->inst_executed, all->inst_executed),
           load = percent_of_count(c->global_load_sectors, all->global_load_sectors),
           store = percent_of_count(c->global_store_sectors, all->global_store_sectors),
           shared = percent_of_count(shared_wavefronts(c), shared_wavefronts(all));
    double time = total_stall_seconds(l),
           heat =
               fmax(fmax(inst, load), fmax(fmax(store, shared), percent_of(time, total_seconds)));
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
    write_percent_cell(percent_of(time, total_seconds), out),
        write_top_stall(l, total_seconds, out);
    buf_puts(out, "<td>");
    html_escape(buf_str(&clean), clean.size, out);
    buf_puts(out, "</td>");
    write_percent_cell(inst, out), write_percent_cell(load, out), write_percent_cell(store, out),
        write_percent_cell(shared, out);
    buf_puts(out, "</tr>\n");
    buf_free(&raw), buf_free(&clean);
}

static void write_source(const struct result *r, struct buf *out) {
    enum { MAX_LINES = 4000 };
    unsigned total = 1;
    for (size_t i = 0; i + 1 < r->source.size && total < MAX_LINES; i++)
        total += r->source.data[i] == '\n';
    double total_seconds = 0;
    for (unsigned i = 0; i < r->nlines; i++) total_seconds += total_stall_seconds(&r->lines[i]);
    buf_puts(out, "<h2>Source</h2><p class=\"dim\">In %: the modelled time that warps spend at "
                  "each line, with the top stall reason, and the line's share of each "
                  "counter.</p><div class=\"scroll\" tabindex=\"0\"><table class=\"src\">\n"
                  "<tr><th></th><th class=\"n\">time</th><th>top stall reason</th><th></th><th "
                  "class=\"n\">instr.</th><th "
                  "class=\"n\">load sectors</th>"
                  "<th class=\"n\">store sectors</th><th class=\"n\">shared "
                  "wavefronts</th></tr>\n");
    for (unsigned n = 1; n <= total; n++) write_source_line(r, n, total_seconds, out);
    buf_puts(out, "</table></div>\n");
}

static void write_counters(const struct result *r, struct buf *out) {
    if (!r->has_counters) return;
    buf_puts(out, "<h2>All counters</h2><details><summary>of the technique case</summary><div "
                  "class=\"scroll\" tabindex=\"0\"><table>\n");
    for (unsigned i = 0; i < sim_counter_count(); i++) {
        uint64_t v = sim_counter_get(&r->counters, i);
        if (v)
            buf_printf(out, "<tr><td><code>%s</code></td><td class=\"n\">%llu</td></tr>\n",
                       sim_counter_name(i), (unsigned long long)v);
    }
    buf_puts(out, "</table></div></details>\n");
}

void report_html(const struct result *r, const struct gpu_device *d,
                 const struct report_context *context, struct buf *out) {
    static const struct report_context empty_context;
    const struct report_context *b = context ? context : &empty_context;
    write_header(r, d, out);
    write_points_lost(r, out);
    write_cases(r, out);
    write_technique(r, out);
    write_speed(r, d, b, out);
    report_picture_streams(r, out);
    report_picture_kernels(r, out);
    report_picture_accesses(r, b, out);
    report_picture_divergence(r, out);
    write_source(r, out);
    report_picture_history(b, out);
    write_counters(r, out);
    if (r->log.size) {
        buf_puts(out, "<h2>Output</h2>\n");
        page_element("pre", "", buf_str(&r->log), out);
    }
    page_close(NULL, out);
}
