/* report_html.c — the report of one exercise as a page that stands alone: no script, no request to anywhere, which its
 * content security policy holds a browser to: nothing but the one style sheet in it, named by its digest. All that comes from
 * a submission goes through report_escape. Pictures are SVG (report_svg.h). */
#include "common/text.h"
#include "grader/jail/jail.h"
#include "grader/report/report.h"
#include "grader/report/report_svg.h"

#include <math.h>
#include <sha2.h>
#include <stdio.h>
#include <string.h>

static const char style_sheet[] =
    ":root{color-scheme:light dark;--ink:#1c1c1c;--dim:#5c5c5c;--paper:#fff;--rule:#ccc;--good:#1a7f37;--warn:#9a5b00;"
    "--bad:#b3261e;--a:#8a8a8a;--b:#0b62c4;--c:#1a7f37;--h:200,60,20}"
    "@media(prefers-color-scheme:dark){:root{--ink:#e6e6e6;--dim:#a0a0a0;--paper:#141414;--rule:#444;--good:#4ac26b;"
    "--warn:#e0a030;--bad:#ff7b72;--a:#9a9a9a;--b:#6cb0ff;--c:#4ac26b;--h:255,120,60}}"
    "body{font:16px/1.45 system-ui,sans-serif;color:var(--ink);background:var(--paper);max-width:62rem;margin:0 auto;"
    "padding:1rem}h1{font-size:1.4rem;margin:.2rem 0}h2{font-size:1.1rem;border-bottom:1px solid var(--rule);"
    "margin:1.6rem 0 .6rem}code,pre,.src{font-family:ui-monospace,monospace;font-size:.85rem}pre{white-space:pre-wrap;"
    "overflow-wrap:anywhere;margin:.3rem 0}.scroll{overflow-x:auto}table{border-collapse:collapse}td,th{padding:.1rem "
    ".5rem;"
    "text-align:left;vertical-align:top}th{color:var(--dim);font-weight:normal}td.n,th.n{text-align:right;"
    "font-variant-numeric:tabular-nums;white-space:nowrap}.src td{white-space:pre}.src td.n{color:var(--dim)}"
    ".good{color:var(--good)}.warn{color:var(--warn)}.bad{color:var(--bad)}.dim{color:var(--dim)}"
    ".h1{background:rgba(var(--h),.07)}.h2{background:rgba(var(--h),.16)}.h3{background:rgba(var(--h),.28)}"
    ".h4{background:rgba(var(--h),.42)}svg{width:100%;max-width:44rem;height:auto;display:block}"
    "svg text{font:13px system-ui,sans-serif;fill:var(--ink)}.axis{stroke:var(--rule)}.roof{stroke:var(--ink);"
    "stroke-width:2}.naive{fill:var(--a)}.yours{fill:var(--b)}.answer{fill:var(--c)}"
    "@media print{body{max-width:none}details{display:block}}";

/* The digest by which the policy names the style, in base64. */
static void style_digest(struct buf *out) {
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    uint8_t d[SHA256_DIGEST_LENGTH + 1] = {0};
    SHA2_CTX c;
    SHA256Init(&c);
    SHA256Update(&c, (const uint8_t *)style_sheet, sizeof style_sheet - 1);
    SHA256Final(d, &c);
    for (unsigned i = 0; i < SHA256_DIGEST_LENGTH; i += 3) {
        unsigned v = (unsigned)d[i] << 16 | (unsigned)d[i + 1] << 8 | (i + 2 < SHA256_DIGEST_LENGTH ? d[i + 2] : 0);
        char four[5] = {digits[v >> 18], digits[v >> 12 & 63], digits[v >> 6 & 63], digits[v & 63], 0};
        if (i + 2 >= SHA256_DIGEST_LENGTH) four[3] = '=';
        buf_puts(out, four);
    }
}

static void put(const char *s, struct buf *out) { report_escape(s, strlen(s), out); }

static void element(const char *name, const char *look, const char *text, struct buf *out) {
    buf_printf(out, "<%s%s%s%s>", name, look[0] ? " class=\"" : "", look, look[0] ? "\"" : "");
    put(text, out);
    buf_printf(out, "</%s>", name);
}

static void number(double v, struct buf *out) {
    buf_puts(out, "<td class=\"n\">");
    report_number(v, out);
    buf_puts(out, "</td>");
}

static const char *look_of(enum verdict v) {
    enum ink i = report_ink_of(v);
    return i == INK_GOOD ? "good" : i == INK_WARN ? "warn" : "bad";
}

/* ---- parts ---- */

static void head(const struct result *r, const struct gpu_device *d, struct buf *out) {
    buf_puts(out, "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
                  "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'sha256-");
    style_digest(out);
    buf_puts(out, "'; base-uri 'none'; form-action 'none'\">\n"
                  "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n<title>");
    put(r->id, out);
    buf_printf(out, "</title>\n<style>%s</style></head><body>\n<h1>", style_sheet);
    put(r->id, out);
    buf_printf(out, " <span class=\"%s\">%s</span>", look_of(r->verdict), verdict_code(r->verdict));
    if (r->untouched) buf_puts(out, " not started");
    else if (verdict_scored(r->verdict)) buf_printf(out, " %.1f of %.0f", r->score, r->max_score);
    buf_puts(out, "</h1>\n");
    element("p", "", r->ex->title, out);
    buf_puts(out, "<p class=\"dim\">");
    put(r->file, out), buf_puts(out, " on "), put(d->full_name, out), buf_puts(out, "; jail: "), put(jail_tier(), out);
    buf_puts(out, "</p>\n");
    if (r->message[0]) element("pre", "", r->message, out);
}

static void missing(const struct result *r, struct buf *out) {
    if (!r->nmissing && !r->waived) return;
    buf_puts(out, "<h2>Points that are missing</h2><table>\n");
    for (unsigned i = 0; i < r->nmissing; i++) {
        buf_printf(out, "<tr><td class=\"n\">%.1f</td>", r->missing[i].points);
        element("td", "", r->missing[i].why, out);
        buf_puts(out, "</tr>\n");
    }
    buf_puts(out, "</table>\n");
    if (r->waived)
        buf_puts(out,
                 "<p>Goals that it misses are waived: it is faster than the model answer, keeps all guards, and its "
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
        buf_printf(out, "<p><strong class=\"%s\">%s</strong> ", look_of(c->verdict), verdict_code(c->verdict));
        put(c->name, out);
        buf_puts(out, "</p>");
        element("pre", "", c->message, out);
    }
}

static void technique(const struct result *r, struct buf *out) {
    if (!r->ntechnique) return;
    buf_printf(
        out,
        "<h2>Technique: %u of %u goals, %u of %u guards</h2><div class=\"scroll\"><table>\n<tr><th></th><th>check</th>"
        "<th>figure</th><th class=\"n\">yours</th><th class=\"n\">limit</th><th class=\"n\">naive</th><th class=\"n\">"
        "way</th><th>line</th></tr>\n",
        r->checks.reached, r->checks.goals, r->checks.kept, r->checks.guards);
    for (unsigned i = 0; i < r->ntechnique; i++) {
        const struct technique_result *t = &r->technique[i];
        buf_printf(out, "<tr><td class=\"%s\">%s</td><td>", t->passed ? "good" : "warn", t->passed ? "ok" : "miss");
        put(t->guard ? "guard: " : "goal: ", out), put(t->name, out);
        buf_puts(out, "</td><td><code>");
        put(t->metric, out), buf_puts(out, "</code>");
        if (t->unit) buf_puts(out, " per "), put(t->unit, out);
        buf_puts(out, "</td>");
        number(t->value, out);
        buf_printf(out, "<td class=\"n\">%s ", t->at_most ? "≤" : "≥"), report_number(t->limit, out),
            buf_puts(out, "</td>");
        if (t->naive_known) number(t->naive, out);
        else buf_puts(out, "<td></td>");
        if (t->guard) buf_puts(out, "<td></td><td>");
        else buf_printf(out, "<td class=\"n\">%.0f %%</td><td>", 100 * t->way);
        if (t->line) put(t->file, out), buf_printf(out, ":%u", t->line);
        buf_puts(out, "</td></tr>\n");
        if (!t->passed)
            buf_puts(out, "<tr><td></td><td colspan=\"7\" class=\"dim\">"), put(t->reason, out),
                buf_puts(out, "</td></tr>\n");
    }
    buf_puts(out, "</table></div>\n");
}

/* ---- pictures ---- */

struct version {
    const char *name, *look;
    double us;
};

static unsigned versions(const struct speed_result *p, struct version v[3]) {
    unsigned n = 0;
    if (p->baseline_us > 0) v[n++] = (struct version){"naive", "naive", p->baseline_us};
    v[n++] = (struct version){"yours", "yours", p->student_us};
    if (p->solution_us > 0) v[n++] = (struct version){"model answer", "answer", p->solution_us};
    return n;
}

static void time_bars(const struct speed_result *p, struct buf *out) {
    struct version v[3];
    unsigned n = versions(p, v);
    double longest = 0, left = 110, room = 470;
    for (unsigned i = 0; i < n; i++) longest = fmax(longest, v[i].us);
    report_svg_open(700, 34.0 * n + 10, "Times of the naive version, yours and the model answer", out);
    for (unsigned i = 0; i < n; i++) {
        struct buf text = {0};
        double y = 8 + 34.0 * i, width = room * v[i].us / longest;
        report_svg_text(left - 10, y + 18, "end", v[i].name, out);
        report_svg_bar(left, y, width, 26, v[i].look, out);
        report_number(v[i].us, &text), buf_puts(&text, " us");
        report_svg_text(left + width + 8, y + 18, "start", buf_str(&text), out);
        buf_free(&text);
    }
    report_svg_close(out);
}

/* Both axes are logarithmic: operations for each byte that the problem needs, and operations a second. */
struct axes {
    double x0, x1, y0, y1; /* decades */
};
static double at_x(const struct axes *a, double v) { return 70 + 600 * (log10(v) - a->x0) / (a->x1 - a->x0); }
static double at_y(const struct axes *a, double v) { return 310 - 280 * (log10(v) - a->y0) / (a->y1 - a->y0); }

static void grid(const struct axes *a, struct buf *out) {
    char text[64];
    for (double x = a->x0; x <= a->x1; x++) {
        report_svg_line(at_x(a, pow(10, x)), 30, at_x(a, pow(10, x)), 310, "axis", out);
        snprintf(text, sizeof text, "%g", pow(10, x));
        report_svg_text(at_x(a, pow(10, x)), 328, "middle", text, out);
    }
    for (double y = a->y0; y <= a->y1; y++) {
        struct buf b = {0};
        report_svg_line(70, at_y(a, pow(10, y)), 670, at_y(a, pow(10, y)), "axis", out);
        report_number(pow(10, y), &b);
        report_svg_text(62, at_y(a, pow(10, y)) + 4, "end", buf_str(&b), out);
        buf_free(&b);
    }
    report_svg_text(370, 348, "middle", "operations for each byte that the problem needs", out);
    report_svg_text(70, 18, "start", "operations a second", out);
}

static void roofline_plot(const struct speed_result *p, const struct gpu_device *d, struct buf *out) {
    struct version v[3];
    unsigned n = versions(p, v);
    double peak = 2.0 * d->fp32_lanes * d->sms * d->clock_hz, rate = d->dram_rate, ridge = peak / rate;
    double intensity = p->flops / p->bytes, slowest = peak;
    for (unsigned i = 0; i < n; i++) slowest = fmin(slowest, p->flops / (v[i].us * 1e-6));
    struct axes a = {floor(log10(fmin(intensity, ridge))) - 1, ceil(log10(fmax(intensity, ridge))) + 1,
                     floor(log10(slowest)), ceil(log10(peak))};
    double first = pow(10, a.x0), low = fmax(first, pow(10, a.y0) / rate);
    report_svg_open(700, 355, "Roofline of the device, with the naive version, yours and the model answer", out);
    grid(&a, out);
    report_svg_line(at_x(&a, low), at_y(&a, low * rate), at_x(&a, ridge), at_y(&a, peak), "roof", out);
    report_svg_line(at_x(&a, ridge), at_y(&a, peak), at_x(&a, pow(10, a.x1)), at_y(&a, peak), "roof", out);
    for (unsigned i = 0; i < n; i++) {
        double y = at_y(&a, p->flops / (v[i].us * 1e-6)), x = at_x(&a, intensity);
        bool left = i % 2; /* so that names of versions that are near each other do not lie on one another */
        report_svg_dot(x, y, v[i].look, out);
        report_svg_text(x + (left ? -9 : 9), y + 4, left ? "end" : "start", v[i].name, out);
    }
    report_svg_close(out);
}

static void speed(const struct result *r, const struct gpu_device *d, struct buf *out) {
    const struct speed_result *p = &r->speed;
    struct report_style plain = {.width = 0};
    struct buf text = {0};
    if (!p->valid && !p->note[0]) return;
    buf_puts(out, "<h2>Speed</h2>\n");
    if (p->valid) time_bars(p, out);
    report_speed(r, d, &plain, &text);
    element("pre", "", buf_str(&text), out);
    if (p->valid && p->flops > 0 && p->bytes > 0) roofline_plot(p, d, out);
    buf_free(&text);
}

/* ---- source ---- */

static const struct line_result *counted(const struct result *r, unsigned line) {
    for (unsigned i = 0; i < r->nlines; i++)
        if (r->lines[i].line == line && !strcmp(r->lines[i].file, r->file)) return &r->lines[i];
    return NULL;
}

static double share(uint64_t part, uint64_t whole) { return whole ? 100.0 * (double)part / (double)whole : 0; }

static void cell(double percent, struct buf *out) {
    if (percent < 0.05) buf_puts(out, "<td></td>");
    else buf_printf(out, "<td class=\"n\">%.1f</td>", percent);
}

static void source_line(const struct result *r, unsigned n, struct buf *out) {
    const struct line_result *l = counted(r, n);
    const struct sim_counters *all = &r->counters, none = {0}, *c = l ? &l->counters : &none;
    double inst = share(c->inst_executed, all->inst_executed), load = share(c->sectors_load, all->sectors_load),
           store = share(c->sectors_store, all->sectors_store),
           shared = share(c->shared_wavefronts_load + c->shared_wavefronts_store,
                          all->shared_wavefronts_load + all->shared_wavefronts_store);
    double heat = fmax(fmax(inst, load), fmax(store, shared));
    struct buf raw = {0}, clean = {0};
    report_source_line(&r->source, n, false, &raw);
    text_clean(&clean, buf_str(&raw), raw.size, 400);
    buf_printf(out, "<tr class=\"h%d\"><td class=\"n\">%u</td><td>",
               heat < 2    ? 0
               : heat < 10 ? 1
               : heat < 25 ? 2
               : heat < 50 ? 3
                           : 4,
               n);
    report_escape(buf_str(&clean), clean.size, out);
    buf_puts(out, "</td>");
    cell(inst, out), cell(load, out), cell(store, out), cell(shared, out);
    buf_puts(out, "</tr>\n");
    buf_free(&raw), buf_free(&clean);
}

static void source(const struct result *r, struct buf *out) {
    enum { MAX_LINES = 4000 };
    unsigned total = 1;
    for (size_t i = 0; i + 1 < r->source.size && total < MAX_LINES; i++) total += r->source.data[i] == '\n';
    buf_puts(out, "<h2>Source</h2><p class=\"dim\">Shares of what was counted, in %.</p><div class=\"scroll\"><table "
                  "class=\"src\">\n"
                  "<tr><th></th><th></th><th class=\"n\">instructions</th><th class=\"n\">load sectors</th>"
                  "<th class=\"n\">store sectors</th><th class=\"n\">shared passes</th></tr>\n");
    for (unsigned n = 1; n <= total; n++) source_line(r, n, out);
    buf_puts(out, "</table></div>\n");
}

static void counters(const struct result *r, struct buf *out) {
    if (!r->has_counters) return;
    buf_puts(out, "<h2>Kernels and counters</h2><table>\n");
    for (unsigned i = 0; i < r->nkernels; i++) {
        buf_puts(out, "<tr><td><code>"), put(r->kernels[i].name, out);
        buf_printf(out, "</code></td><td>%u registers a thread, %u bytes of spills</td></tr>\n",
                   r->kernels[i].registers, r->kernels[i].spill_bytes);
    }
    if (r->occupancy > 0) buf_printf(out, "<tr><td>occupancy</td><td>%.0f %%</td></tr>\n", 100 * r->occupancy);
    buf_puts(out, "</table><details><summary>All counters</summary><table>\n");
    for (unsigned i = 0; i < sim_counter_count(); i++) {
        uint64_t v = sim_counter_get(&r->counters, i);
        if (v)
            buf_printf(out, "<tr><td><code>%s</code></td><td class=\"n\">%llu</td></tr>\n", sim_counter_name(i),
                       (unsigned long long)v);
    }
    buf_puts(out, "</table></details>\n");
}

void report_html(const struct result *r, const struct gpu_device *d, struct buf *out) {
    head(r, d, out);
    missing(r, out);
    cases(r, out);
    technique(r, out);
    speed(r, d, out);
    source(r, out);
    counters(r, out);
    if (r->log.size) {
        buf_puts(out, "<h2>Printed</h2>\n");
        element("pre", "", buf_str(&r->log), out);
    }
    buf_puts(out, "</body></html>\n");
}
