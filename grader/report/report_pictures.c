/* report_pictures.c — the pictures of a report's HTML page. They compare a submission with the
 * book's versions; grader/page draws them. */
#include "common/text.h"
#include "grader/grade/versions.h"
#include "grader/page/page.h"
#include "grader/report/report.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* ---- times ---- */

/* The book's versions and the submission, slowest first like the ladder. Measured and modelled
 * times are never mixed: versions have modelled times only. */
struct shown_version {
    const char *name;
    const struct result *result;
    double us;
};

static unsigned list_shown_versions(const struct result *r, const struct report_context *b,
                                    struct shown_version *out) {
    const struct speed_result *p = &r->speed;
    unsigned n = 0;
    bool modelled = p->valid && !strcmp(p->kind, "modelled");
    for (unsigned i = 0; i < b->nversions; i++) {
        const struct version *v = &b->versions[i];
        double us = p->is_timed_size ? v->us : v->counted_us;
        if (modelled && us > 0) out[n++] = (struct shown_version){v->name, &v->result, us};
    }
    if (!modelled && p->baseline_us > 0)
        out[n++] = (struct shown_version){"naive", NULL, p->baseline_us};
    if (!modelled && p->solution_us > 0)
        out[n++] = (struct shown_version){"solution", NULL, p->solution_us};
    if (p->valid && p->student_us > 0) out[n++] = (struct shown_version){"yours", r, p->student_us};
    return n;
}

/* Returns the name of a version as pages show it. */
static const char *label_of(const char *name) {
    return !strcmp(name, "naive")      ? "baseline"
           : !strcmp(name, "solution") ? "model solution"
                                       : name;
}

static const char *css_class_of(const char *name) {
    bool is_named = !strcmp(name, "naive") || !strcmp(name, "yours") || !strcmp(name, "solution");
    return is_named ? name : "step";
}

/* Returns the bar of a version: launch overhead, then the stall reasons. */
static struct page_bar bar_of(const struct shown_version *s) {
    struct page_bar b = {.name = label_of(s->name), .total = s->us};
    for (unsigned i = 0; s->result && i < s->result->nkernel_times; i++)
        b.parts[0] += s->result->kernel_times[i].account.components[TIME_COMPONENT_LAUNCH];
    for (unsigned i = 0; s->result && i < s->result->nlines; i++)
        for (unsigned k = 0; k < SIM_STALL_COUNT; k++)
            b.parts[k + 1] += s->result->lines[i].stall_seconds[k];
    double total = 0;
    for (unsigned k = 0; k < PAGE_PARTS; k++) total += b.parts[k];
    if (!(total > 0)) b.parts[SIM_STALL_SELECTED + 1] = 1;
    return b;
}
_Static_assert((int)SIM_STALL_COUNT + 1 <= (int)PAGE_PARTS, "each stall reason needs a colour");

static int compare_times(const void *a, const void *b) {
    double x = ((const struct shown_version *)a)->us, y = ((const struct shown_version *)b)->us;
    return (x < y) - (x > y);
}

static void write_stacked_bars(const struct result *r, const struct shown_version *s, unsigned n,
                               struct buf *out) {
    const char *names[PAGE_PARTS] = {"launch"};
    for (unsigned k = 0; k < SIM_STALL_COUNT; k++) names[k + 1] = sim_stall_text(k);
    struct page_bar *bars = xcalloc(n + 1, sizeof *bars);
    for (unsigned i = 0; i < n; i++) bars[i] = bar_of(&s[i]);
    if (r->speed.roofline_fraction > 0) {
        bars[n].name = "roofline: least possible time",
        bars[n].total = r->speed.student_us * r->speed.roofline_fraction;
        bars[n++].parts[PAGE_PARTS - 1] = 1;
    }
    buf_puts(out, "<figure>");
    page_stacked_bars("Times of the versions by stall reason", bars, n, names, out);
    buf_printf(out, "<figcaption>Time of each version%s.</figcaption></figure>\n",
               strcmp(r->speed.kind, "modelled") ? "" : ", by modelled stall reason");
    free(bars);
}

static void write_roofline(const struct result *r, const struct gpu_device *d,
                           const struct shown_version *s, unsigned n, struct buf *out) {
    const struct speed_result *p = &r->speed;
    if (!(p->flops > 0) || !(p->bytes > 0)) return;
    struct page_dot *dots = xcalloc(n + 1, sizeof *dots);
    for (unsigned i = 0; i < n; i++)
        dots[i] = (struct page_dot){label_of(s[i].name), css_class_of(s[i].name), s[i].us};
    buf_puts(out, "<figure>");
    page_roofline(p->bytes, p->flops, d->dram_rate, result_peak_flops(p, d), dots, n, out);
    buf_puts(out, "<figcaption>The device's roofline: memory bandwidth, then ");
    buf_puts(out, p->tensor_flops > 0
                      ? "tensor cores (FP32 units for operations outside matrix products)"
                      : "FP32 units");
    buf_puts(out, ". No version can be above the line.");
    if (p->bound_by[0])
        buf_puts(out, " Yours is bound by "), html_escape_text(p->bound_by, out),
            buf_puts(out, ".");
    buf_puts(out, "</figcaption></figure>\n");
    free(dots);
}

void report_picture_times(const struct result *r, const struct gpu_device *d,
                          const struct report_context *b, struct buf *out) {
    struct shown_version *s = xcalloc(b->nversions + 3, sizeof *s);
    unsigned n = list_shown_versions(r, b, s);
    qsort(s, n, sizeof *s, compare_times);
    buf_puts(out, "<div class=\"row two\">");
    write_stacked_bars(r, s, n, out);
    write_roofline(r, d, s, n, out);
    buf_puts(out, "</div>\n");
    free(s);
}

/* ---- streams ---- */

static void write_timeline(const struct result *r, struct buf *out) {
    static const char *const names[PAGE_PARTS] = {[0] = "copies to the device",
                                                  [2] = "copies to the host",
                                                  [4] = "kernels",
                                                  [6] = "copies to another device"};
    struct page_span *spans = xcalloc(r->nspans + 1, sizeof *spans);
    for (unsigned i = 0; i < r->nspans; i++) {
        const struct timeline_span *s = &r->spans[i];
        spans[i] = (struct page_span){s->begin_us, s->end_us, s->stream, 2 * s->engine};
    }
    page_timeline("Copies and kernels of each stream over time", spans, r->nspans, names, out);
    free(spans);
}

void report_picture_streams(const struct result *r, struct buf *out) {
    if (!r->nspans) return;
    buf_puts(out, "<h2>Streams</h2>\n<figure>");
    write_timeline(r, out);
    buf_puts(out, "<figcaption>Modelled: when each copy and kernel runs. Bars of different streams "
                  "above each other overlap in time.</figcaption></figure>\n");
}

/* ---- kernels ---- */

static void write_kernel_row(const struct kernel_time *k, double total_us, struct buf *out) {
    buf_puts(out, "<tr><td><code>"), html_escape_text(k->name, out);
    buf_printf(out, "</code></td><td class=\"n\">%u</td><td class=\"n\">", k->launches);
    page_time(k->us, out);
    buf_printf(out, "</td><td class=\"n\">%.0f %%</td><td class=\"n\">%.0f %%</td><td class=\"w\">",
               total_us > 0 ? 100 * k->us / total_us : 0, 100 * k->occupancy);
    html_escape_text(k->occupancy_limiter, out);
    buf_printf(out,
               "</td><td class=\"n\">%u</td><td class=\"n\">%u</td><td class=\"n\">%u</td><td "
               "class=\"n\">%u x %u x "
               "%u</td><td class=\"n\">%u x %u x %u</td></tr>\n",
               k->registers, k->spill_bytes, k->shared_bytes, k->grid[0], k->grid[1], k->grid[2],
               k->block[0], k->block[1], k->block[2]);
}

static void write_resources(const struct kernel_time *k, struct buf *out) {
    double seconds = k->us * 1e-6;
    buf_puts(out, "<figure><table>\n");
    for (unsigned i = 0; time_component_name(i) && seconds > 0; i++) {
        double part = k->account.components[i] / seconds;
        if (part < 0.01 || time_component_is_stall(i)) continue;
        buf_puts(out, "<tr><td>"), html_escape_text(time_component_name(i), out);
        buf_printf(out,
                   "</td><td class=\"n\">%.0f %%</td><td><svg viewBox=\"0 0 100 10\" "
                   "role=\"img\"><title>%.0f "
                   "%%</title>",
                   100 * part, 100 * part);
        page_svg_bar(0, 1, 100 * fmin(part, 1), 8, "yours", out);
        buf_puts(out, "</svg></td></tr>\n");
    }
    buf_puts(out, "</table><figcaption>Utilization of each resource in <code>"),
        html_escape_text(k->name, out);
    buf_puts(out, "</code>"), html_escape_text(k->bound_by[0] ? "; bound by " : "", out),
        html_escape_text(k->bound_by, out);
    buf_puts(out, "</figcaption></figure>\n");
}

void report_picture_kernels(const struct result *r, struct buf *out) {
    const struct kernel_time *longest = r->nkernel_times ? r->kernel_times : NULL;
    double total_us = 0;
    if (!r->nkernel_times) return;
    for (unsigned i = 0; i < r->nkernel_times; i++) {
        total_us += r->kernel_times[i].us;
        if (r->kernel_times[i].us > longest->us) longest = &r->kernel_times[i];
    }
    buf_puts(out,
             "<h2>Kernels and resources</h2>\n<div "
             "class=\"scroll\" tabindex=\"0\"><table><tr><th>kernel</th><th class=\"n\">launches"
             "</th><th class=\"n\">modelled time</th><th class=\"n\">share</th><th "
             "class=\"n\">occupancy</th><th>"
             "limited by</th><th class=\"n\">registers</th><th class=\"n\">spilled "
             "bytes</th><th class=\"n\">shared "
             "bytes</th><th class=\"n\">grid</th><th class=\"n\">block</th></tr>\n");
    for (unsigned i = 0; i < r->nkernel_times; i++)
        write_kernel_row(&r->kernel_times[i], total_us, out);
    buf_puts(out, "</table></div>\n");
    write_resources(longest, out);
}

/* ---- accesses ---- */

/* Returns excessive sectors of a global access; wavefronts or serialized updates beyond the first
 * of a shared access or an atomic. */
static int wasted_cost(const struct sim_access *a) {
    unsigned bytes, ideal = page_ideal_sectors(a, &bytes);
    return a->kind == SIM_ACCESS_ATOMIC || a->is_shared ? (int)a->cost - 1
                                                        : (int)a->cost - (int)ideal;
}

struct access_category {
    const char *title, *description;
    bool shared;
    int kind; /* enum sim_access_kind; -1 = any */
};

/* Returns the most wasteful access of a kernel (NULL: of all kernels); of equally wasteful ones the
 * costliest. */
static const struct access_result *
worst_access(const struct result *r, const struct access_category *k, const char *kernel) {
    const struct access_result *worst = NULL;
    for (unsigned i = 0; i < r->naccesses; i++) {
        const struct access_result *a = &r->accesses[i];
        if (a->access.is_shared != k->shared || (k->kind >= 0 && a->access.kind != k->kind))
            continue;
        if (kernel && strcmp(kernel, a->kernel)) continue;
        int more = worst ? wasted_cost(&a->access) - wasted_cost(&worst->access) : 1;
        if (more > 0 || (!more && a->access.cost > worst->access.cost)) worst = a;
    }
    return worst;
}

static void write_source_line(const struct result *r, const struct sim_access *a, struct buf *out) {
    struct buf raw = {0}, clean = {0};
    if (strcmp(a->file, r->file)) return;
    report_source_line(&r->source, a->line, true, &raw);
    text_clean(&clean, buf_str(&raw), raw.size, 120);
    buf_puts(out, "<br><code>"), html_escape_text(buf_str(&clean), out), buf_puts(out, "</code>");
    buf_free(&raw), buf_free(&clean);
}

/* Appends "load of 4 bytes by 32 lanes: 32 sectors for 128 bytes, ideal: 4". */
static void describe_access(const struct sim_access *a, struct buf *out) {
    static const char *const verbs[] = {"load", "store", "atomic"};
    unsigned bytes, ideal = page_ideal_sectors(a, &bytes),
                    lanes = (unsigned)__builtin_popcount(a->mask);
    buf_printf(out, "%s of %u bytes by %u lane%s: ", verbs[a->kind], a->lane_bytes, lanes,
               lanes == 1 ? "" : "s");
    if (a->kind == SIM_ACCESS_ATOMIC) buf_printf(out, "%u serialized", a->cost);
    else if (a->is_shared) buf_printf(out, "%u wavefront%s", a->cost, a->cost == 1 ? "" : "s");
    else
        buf_printf(out, "%u sector%s for %u bytes, ideal: %u", a->cost, a->cost == 1 ? "" : "s",
                   bytes, ideal);
}

static void write_caption(const struct result *r, const char *name, const struct access_result *a,
                          struct buf *out) {
    buf_puts(out, "<figcaption><strong>"), html_escape_text(name, out),
        buf_puts(out, "</strong> <code>");
    html_escape_text(a->kernel, out), buf_puts(out, "</code>, "),
        html_escape_text(a->access.file, out);
    buf_printf(out, ":%u, ", a->access.line);
    describe_access(&a->access, out);
    write_source_line(r, &a->access, out);
    buf_puts(out, "</figcaption>");
}

static void draw_access(const struct sim_access *a, struct buf *out) {
    (a->is_shared ? page_map_banks : page_map_sectors)(a, out);
}

static void write_figure(const struct result *r, const char *name, const struct access_result *a,
                         struct buf *out) {
    if (!a) return;
    buf_puts(out, "<figure>");
    draw_access(&a->access, out);
    write_caption(r, name, a, out);
    buf_puts(out, "</figure>\n");
}

/* Writes the worst access of each of the first kernels of the submission. */
static void write_student_figures(const struct result *r, const struct access_category *k,
                                  struct buf *out) {
    enum { MAX_KERNELS = 4 };
    const char *seen[MAX_KERNELS];
    unsigned n = 0;
    for (unsigned i = 0; i < r->naccesses && n < MAX_KERNELS; i++) {
        bool already_shown = false;
        for (unsigned j = 0; j < n; j++) already_shown |= !strcmp(seen[j], r->accesses[i].kernel);
        if (already_shown) continue;
        seen[n++] = r->accesses[i].kernel;
        write_figure(r, "yours", worst_access(r, k, seen[n - 1]), out);
    }
}

static void write_comparison(const struct result *r, const struct report_context *b,
                             const struct access_category *k, struct buf *out) {
    const struct version *baseline = version_find(b->versions, b->nversions, "naive"),
                         *solution = version_find(b->versions, b->nversions, "solution");
    bool has_own_access = worst_access(r, k, NULL);
    if (!has_own_access && !(baseline && worst_access(&baseline->result, k, NULL)) &&
        !(solution && worst_access(&solution->result, k, NULL)))
        return;
    page_element("h3", "", k->title, out);
    page_element("p", "dim", k->description, out);
    buf_puts(out, "<div class=\"row\">\n");
    if (baseline && !r->is_unmodified)
        write_figure(&baseline->result, label_of("naive"), worst_access(&baseline->result, k, NULL),
                     out);
    write_student_figures(r, k, out);
    if (solution)
        write_figure(&solution->result, label_of("solution"),
                     worst_access(&solution->result, k, NULL), out);
    buf_puts(out, "</div>\n");
}

void report_picture_accesses(const struct result *r, const struct report_context *b,
                             struct buf *out) {
    static const struct access_category kinds[] = {
        {"Loads from global memory",
         "Gaps separate sectors that are not adjacent in memory. Empty parts of a sector are read "
         "but not used.",
         false, SIM_ACCESS_LOAD},
        {"Stores to global memory", "Only the filled part of a sector is written.", false,
         SIM_ACCESS_STORE},
        {"Atomics in global memory", "Updates of the same word by several lanes are serialized.",
         false, SIM_ACCESS_ATOMIC},
        {"Banks of shared memory",
         "Each bank delivers one word per wavefront; other words of the same bank need another "
         "wavefront.",
         true, -1}};
    if (!r->naccesses && !b->nversions) return;
    buf_puts(out, "<h2>Memory access patterns</h2>\n<p>The most wasteful traced access of each "
                  "kernel; lanes from 0 (light) to 31 (dark).</p>\n");
    for (unsigned i = 0; i < sizeof kinds / sizeof *kinds; i++)
        write_comparison(r, b, &kinds[i], out);
}

/* ---- divergence ---- */

void report_picture_divergence(const struct result *r, struct buf *out) {
    bool any = false;
    for (unsigned i = 0; i < r->nlines; i++) any |= r->lines[i].counters.divergent_branches > 0;
    if (!any) return;
    buf_puts(out, "<h2>Divergence</h2>\n<p class=\"dim\">Lines with divergent "
                  "branches.</p><div class=\"scroll\" tabindex=\"0\">"
                  "<table class=\"src\"><tr><th class=\"n\">line</th><th></th><th "
                  "class=\"n\">branches</th><th "
                  "class=\"n\">divergent</th><th class=\"n\">share</th></tr>\n");
    for (unsigned i = 0; i < r->nlines; i++) {
        const struct line_result *l = &r->lines[i];
        struct buf raw = {0}, clean = {0};
        if (!l->counters.divergent_branches) continue;
        if (!strcmp(l->file, r->file)) report_source_line(&r->source, l->line, true, &raw);
        text_clean(&clean, buf_str(&raw), raw.size, 200);
        buf_printf(out, "<tr><td class=\"n\">%u</td><td>", l->line),
            html_escape_text(buf_str(&clean), out);
        buf_puts(out, "</td>"), page_cell((double)l->counters.branches, out);
        page_cell((double)l->counters.divergent_branches, out);
        buf_printf(out, "<td class=\"n\">%.0f %%</td></tr>\n",
                   100.0 * (double)l->counters.divergent_branches /
                       (double)(l->counters.branches ? l->counters.branches : 1));
        buf_free(&raw), buf_free(&clean);
    }
    buf_puts(out, "</table></div>\n");
}

/* ---- history ---- */

void report_picture_history(const struct report_context *b, struct buf *out) {
    if (b->nhistory < 2) return;
    double *score = xcalloc(b->nhistory, sizeof *score), *us = xcalloc(b->nhistory, sizeof *us);
    const char **names = xcalloc(b->nhistory, sizeof *names);
    char(*text)[24] = xcalloc(b->nhistory, sizeof *text);
    bool has_time = false; /* of a run that was timed */
    for (unsigned i = 0; i < b->nhistory; i++) {
        struct tm tm;
        time_t graded_at = (time_t)b->history[i].graded_at;
        if (gmtime_r(&graded_at, &tm)) strftime(text[i], sizeof *text, "%d %b %H:%M", &tm);
        names[i] = text[i], score[i] = b->history[i].score,
        us[i] = b->history[i].us > 0 ? b->history[i].us : NAN;
        has_time |= b->history[i].us > 0;
    }
    buf_puts(out, "<h2>Your runs</h2>\n<div class=\"row two\"><figure>");
    page_line_chart("Score by run", "points", names, b->nhistory,
                    &(struct page_series){"points", score, 100}, 1, false, out);
    buf_puts(out, "<figcaption>Points, run by run (times are UTC).</figcaption></figure>");
    if (has_time) {
        buf_puts(out, "<figure>");
        page_line_chart("Time by run", "µs", names, b->nhistory,
                        &(struct page_series){"time", us, 0}, 1, true, out);
        buf_puts(out, "<figcaption>Time, run by run.</figcaption></figure>");
    }
    buf_puts(out, "</div>\n");
    free(score), free(us), free(names), free(text);
}

/* ---- pictures of a page that shows a result live ---- */

/* Writes the attempts, the baseline and the model solution as dots, and the last attempt by name.
 */
static void write_attempts(const struct result *r, const struct gpu_device *d,
                           const struct report_context *b, struct buf *out) {
    const struct speed_result *p = &r->speed;
    struct page_dot *dots = xcalloc(b->nhistory + 3, sizeof *dots);
    unsigned n = 0;
    for (unsigned i = 0; i < b->nhistory; i++)
        if (b->history[i].us > 0 && !strcmp(b->history[i].kind, p->kind))
            dots[n++] = (struct page_dot){"", "step", b->history[i].us};
    if (p->baseline_us > 0) dots[n++] = (struct page_dot){"baseline", "naive", p->baseline_us};
    if (p->solution_us > 0)
        dots[n++] = (struct page_dot){"model solution", "solution", p->solution_us};
    dots[n++] = (struct page_dot){"yours", "yours", p->student_us};
    page_roofline(p->bytes, p->flops, d->dram_rate, result_peak_flops(p, d), dots, n, out);
    free(dots);
}

static void write_account(const struct result *r, struct buf *out) {
    const char *names[PAGE_PARTS] = {"launch"};
    for (unsigned k = 0; k < SIM_STALL_COUNT; k++) names[k + 1] = sim_stall_text(k);
    struct page_bar bar = bar_of(&(struct shown_version){"yours", r, r->speed.student_us});
    page_stacked_bars("Modelled time by stall reason", &bar, 1, names, out);
}

static json_t *access_json(const struct access_result *a) {
    struct buf svg = {0}, caption = {0};
    draw_access(&a->access, &svg);
    buf_printf(&caption, "%s memory, ", a->access.is_shared ? "shared" : "global");
    describe_access(&a->access, &caption);
    json_t *j = json_pack("{s:i, s:s, s:s, s:s, s:i}", "line", (int)a->access.line, "kernel",
                          a->kernel, "caption", buf_str(&caption), "svg", buf_str(&svg), "wasted",
                          wasted_cost(&a->access));
    buf_free(&svg), buf_free(&caption);
    return j;
}

static json_t *accesses_json(const struct result *r) {
    enum { MAX_PICTURES = 40 };
    json_t *list = json_array();
    for (unsigned i = 0; i < r->naccesses && json_array_size(list) < MAX_PICTURES; i++)
        if (!strcmp(r->accesses[i].access.file, r->file))
            json_array_append_new(list, access_json(&r->accesses[i]));
    return list;
}

struct json_t *report_pictures_json(const struct result *r, const struct gpu_device *d,
                                    const struct report_context *b) {
    struct buf account = {0}, roofline = {0}, timeline = {0};
    const struct speed_result *p = &r->speed;
    bool has_time = p->valid && p->student_us > 0;
    if (has_time && !strcmp(p->kind, "modelled")) write_account(r, &account);
    if (has_time && p->flops > 0 && p->bytes > 0) write_attempts(r, d, b, &roofline);
    if (r->nspans) write_timeline(r, &timeline);
    json_t *j =
        json_pack("{s:s, s:s, s:s, s:o}", "timeline", buf_str(&timeline), "account",
                  buf_str(&account), "roofline", buf_str(&roofline), "accesses", accesses_json(r));
    buf_free(&account), buf_free(&roofline), buf_free(&timeline);
    return j;
}
