/* report_pictures.c — the pictures of a report's page: what stands beside a result on it, drawn by
 * grader/page. */
#include "common/text.h"
#include "grader/grade/versions.h"
#include "grader/page/page.h"
#include "grader/report/report.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* ---- times ---- */

/* Versions and the submission, slowest first as the ladder goes; only where both are modelled can
 * they stand together. */
struct shown {
    const char *name;
    const struct result *result;
    double us;
};

static unsigned shown_versions(const struct result *r, const struct report_beside *b,
                               struct shown *out) {
    const struct speed_result *p = &r->speed;
    unsigned n = 0;
    bool modelled = p->valid && !strcmp(p->kind, "modelled");
    for (unsigned i = 0; i < b->nversions; i++) {
        const struct version *v = &b->versions[i];
        double us = p->timed ? v->us : v->counted_us;
        if (modelled && us > 0) out[n++] = (struct shown){v->name, &v->shown, us};
    }
    if (!modelled && p->baseline_us > 0) out[n++] = (struct shown){"naive", NULL, p->baseline_us};
    if (!modelled && p->solution_us > 0) out[n++] = (struct shown){"answer", NULL, p->solution_us};
    if (p->valid && p->student_us > 0) out[n++] = (struct shown){"yours", r, p->student_us};
    return n;
}

static const char *look_of(const char *name) {
    bool known = !strcmp(name, "naive") || !strcmp(name, "yours") || !strcmp(name, "answer");
    return known ? name : "step";
}

/* The launch, then what warps wait for. */
static struct page_bar bar_of(const struct shown *s) {
    struct page_bar b = {.name = s->name, .total = s->us};
    for (unsigned i = 0; s->result && i < s->result->ntimes; i++)
        b.part[0] += s->result->times[i].parts[TIME_COMPONENT_LAUNCH];
    for (unsigned i = 0; s->result && i < s->result->nlines; i++)
        for (unsigned k = 0; k < SIM_STALL_COUNT; k++)
            b.part[k + 1] += s->result->lines[i].waits[k];
    double all = 0;
    for (unsigned k = 0; k < PAGE_PARTS; k++) all += b.part[k];
    if (!(all > 0)) b.part[SIM_STALL_SELECTED + 1] = 1;
    return b;
}
_Static_assert((int)SIM_STALL_COUNT + 1 <= (int)PAGE_PARTS, "each wait has a colour");

static int by_time(const void *a, const void *b) {
    double x = ((const struct shown *)a)->us, y = ((const struct shown *)b)->us;
    return (x < y) - (x > y);
}

static void stacks(const struct result *r, const struct shown *s, unsigned n, struct buf *out) {
    const char *names[PAGE_PARTS] = {"launch"};
    for (unsigned k = 0; k < SIM_STALL_COUNT; k++) names[k + 1] = sim_stall_text(k);
    struct page_bar *bars = xcalloc(n + 1, sizeof *bars);
    for (unsigned i = 0; i < n; i++) bars[i] = bar_of(&s[i]);
    if (r->speed.of_roofline > 0) {
        bars[n].name = "what the problem needs at least",
        bars[n].total = r->speed.student_us * r->speed.of_roofline;
        bars[n++].part[PAGE_PARTS - 1] = 1;
    }
    buf_puts(out, "<figure>");
    page_stacks("Times of the versions, by what warps wait for", bars, n, names, out);
    buf_printf(out, "<figcaption>Time of each version%s.</figcaption></figure>\n",
               strcmp(r->speed.kind, "modelled") ? ""
                                                 : ", by what its warps wait for in the model");
    free(bars);
}

static void roofline(const struct result *r, const struct gpu_device *d, const struct shown *s,
                     unsigned n, struct buf *out) {
    const struct speed_result *p = &r->speed;
    if (!(p->flops > 0) || !(p->bytes > 0)) return;
    struct page_dot *dots = xcalloc(n + 1, sizeof *dots);
    for (unsigned i = 0; i < n; i++)
        dots[i] = (struct page_dot){s[i].name, look_of(s[i].name), s[i].us};
    buf_puts(out, "<figure>");
    page_roofline(p->bytes, p->flops, d->dram_rate, result_peak_flops(p, d), dots, n, out);
    buf_puts(out, p->matrix_flops > 0 ? "<figcaption>The device's roof: bandwidth of memory, then "
                                        "tensor cores (FP32 units, for what is no "
                                        "product). A version can come up to the line, and not "
                                        "above it.</figcaption></figure>\n"
                                      : "<figcaption>The device's roof: bandwidth of memory, then "
                                        "FP32 units. A version can come up to the "
                                        "line, and not above it.</figcaption></figure>\n");
    free(dots);
}

void report_picture_times(const struct result *r, const struct gpu_device *d,
                          const struct report_beside *b, struct buf *out) {
    struct shown *s = xcalloc(b->nversions + 3, sizeof *s);
    unsigned n = shown_versions(r, b, s);
    qsort(s, n, sizeof *s, by_time);
    buf_puts(out, "<div class=\"row two\">");
    stacks(r, s, n, out);
    roofline(r, d, s, n, out);
    buf_puts(out, "</div>\n");
    free(s);
}

/* ---- kernels ---- */

static void kernel_row(const struct kernel_time *k, double all, struct buf *out) {
    buf_puts(out, "<tr><td><code>"), page_put(k->name, out);
    buf_printf(out, "</code></td><td class=\"n\">%u</td><td class=\"n\">", k->launches);
    page_time(k->us, out);
    buf_printf(out, "</td><td class=\"n\">%.0f %%</td><td class=\"n\">%.0f %%</td><td class=\"w\">",
               all > 0 ? 100 * k->us / all : 0, 100 * k->occupancy);
    page_put(k->limit, out);
    buf_printf(out,
               "</td><td class=\"n\">%u</td><td class=\"n\">%u</td><td class=\"n\">%u</td><td "
               "class=\"n\">%u x %u x "
               "%u</td><td class=\"n\">%u x %u x %u</td></tr>\n",
               k->registers, k->spill_bytes, k->shared_bytes, k->grid[0], k->grid[1], k->grid[2],
               k->block[0], k->block[1], k->block[2]);
}

static void resources(const struct kernel_time *k, struct buf *out) {
    double seconds = k->us * 1e-6;
    buf_puts(out, "<figure><table>\n");
    for (unsigned i = 0; time_component_name(i) && seconds > 0; i++) {
        double part = k->parts[i] / seconds;
        if (part < 0.01 || time_component_is_stall(i)) continue;
        buf_puts(out, "<tr><td>"), page_put(time_component_name(i), out);
        buf_printf(out,
                   "</td><td class=\"n\">%.0f %%</td><td><svg viewBox=\"0 0 100 10\" "
                   "role=\"img\"><title>%.0f "
                   "%%</title>",
                   100 * part, 100 * part);
        page_svg_bar(0, 1, 100 * fmin(part, 1), 8, "yours", out);
        buf_puts(out, "</svg></td></tr>\n");
    }
    buf_puts(out, "</table><figcaption>How long each resource is busy in <code>"),
        page_put(k->name, out);
    buf_puts(out, "</code>"), page_put(k->bound_by[0] ? "; bound by " : "", out),
        page_put(k->bound_by, out);
    buf_puts(out, "</figcaption></figure>\n");
}

void report_picture_kernels(const struct result *r, struct buf *out) {
    const struct kernel_time *longest = r->ntimes ? r->times : NULL;
    double all = 0;
    if (!r->ntimes) return;
    for (unsigned i = 0; i < r->ntimes; i++) {
        all += r->times[i].us;
        if (r->times[i].us > longest->us) longest = &r->times[i];
    }
    buf_puts(out, "<h2>Kernels and resources</h2>\n<div "
                  "class=\"scroll\"><table><tr><th>kernel</th><th class=\"n\">launches"
                  "</th><th class=\"n\">modelled</th><th class=\"n\">of the time</th><th "
                  "class=\"n\">occupancy</th><th>"
                  "limited by</th><th class=\"n\">registers</th><th class=\"n\">spilled "
                  "bytes</th><th class=\"n\">shared "
                  "bytes</th><th class=\"n\">grid</th><th class=\"n\">block</th></tr>\n");
    for (unsigned i = 0; i < r->ntimes; i++) kernel_row(&r->times[i], all, out);
    buf_puts(out, "</table></div>\n");
    resources(longest, out);
}

/* ---- accesses ---- */

/* Wasted sectors, or passes beyond the first. */
static int waste(const struct sim_access *a) {
    unsigned bytes, ideal = page_map_ideal(a, &bytes);
    return a->kind == SIM_ACCESS_ATOMIC || a->is_shared ? (int)a->cost - 1
                                                        : (int)a->cost - (int)ideal;
}

struct kind_of_access {
    const char *title, *what;
    bool shared;
    int kind; /* -1: any */
};

/* The worst of a kernel (NULL: of all); of those that waste as much the costliest. */
static const struct access_result *worst_of(const struct result *r, const struct kind_of_access *k,
                                            const char *kernel) {
    const struct access_result *worst = NULL;
    for (unsigned i = 0; i < r->naccesses; i++) {
        const struct access_result *a = &r->accesses[i];
        if (a->at.is_shared != k->shared || (k->kind >= 0 && a->at.kind != k->kind)) continue;
        if (kernel && strcmp(kernel, a->kernel)) continue;
        int more = worst ? waste(&a->at) - waste(&worst->at) : 1;
        if (more > 0 || (!more && a->at.cost > worst->at.cost)) worst = a;
    }
    return worst;
}

static void source_of(const struct result *r, const struct sim_access *a, struct buf *out) {
    struct buf raw = {0}, clean = {0};
    if (strcmp(a->file, r->file)) return;
    report_source_line(&r->source, a->line, true, &raw);
    text_clean(&clean, buf_str(&raw), raw.size, 120);
    buf_puts(out, "<br><code>"), page_put(buf_str(&clean), out), buf_puts(out, "</code>");
    buf_free(&raw), buf_free(&clean);
}

static void caption(const struct result *r, const char *name, const struct access_result *a,
                    struct buf *out) {
    static const char *const verbs[] = {"load", "store", "atomic"};
    unsigned bytes, ideal = page_map_ideal(&a->at, &bytes),
                    lanes = (unsigned)__builtin_popcount(a->at.mask);
    buf_puts(out, "<figcaption><strong>"), page_put(name, out), buf_puts(out, "</strong> <code>");
    page_put(a->kernel, out), buf_puts(out, "</code>, "), page_put(a->at.file, out);
    buf_printf(out, ":%u, %s of %u bytes by %u lane%s: ", a->at.line, verbs[a->at.kind],
               a->at.lane_bytes, lanes, lanes == 1 ? "" : "s");
    if (a->at.kind == SIM_ACCESS_ATOMIC) buf_printf(out, "%u in turn", a->at.cost);
    else if (a->at.is_shared) buf_printf(out, "%u pass%s", a->at.cost, a->at.cost == 1 ? "" : "es");
    else
        buf_printf(out, "%u sector%s for %u bytes, %u at least", a->at.cost,
                   a->at.cost == 1 ? "" : "s", bytes, ideal);
    source_of(r, &a->at, out);
    buf_puts(out, "</figcaption>");
}

static void figure(const struct result *r, const char *name, const struct access_result *a,
                   struct buf *out) {
    if (!a) return;
    buf_puts(out, "<figure>");
    (a->at.is_shared ? page_map_banks : page_map_sectors)(&a->at, out);
    caption(r, name, a, out);
    buf_puts(out, "</figure>\n");
}

/* Of each kernel of the submission, at most so many. */
static void own_figures(const struct result *r, const struct kind_of_access *k, struct buf *out) {
    enum { MOST_KERNELS = 4 };
    const char *seen[MOST_KERNELS];
    unsigned n = 0;
    for (unsigned i = 0; i < r->naccesses && n < MOST_KERNELS; i++) {
        bool again = false;
        for (unsigned j = 0; j < n; j++) again |= !strcmp(seen[j], r->accesses[i].kernel);
        if (again) continue;
        seen[n++] = r->accesses[i].kernel;
        figure(r, "yours", worst_of(r, k, seen[n - 1]), out);
    }
}

static void compare(const struct result *r, const struct report_beside *b,
                    const struct kind_of_access *k, struct buf *out) {
    const struct version *naive = version_named(b->versions, b->nversions, "naive"),
                         *answer = version_named(b->versions, b->nversions, "answer");
    bool own = worst_of(r, k, NULL);
    if (!own && !(naive && worst_of(&naive->shown, k, NULL)) &&
        !(answer && worst_of(&answer->shown, k, NULL)))
        return;
    page_element("h3", "", k->title, out);
    page_element("p", "dim", k->what, out);
    buf_puts(out, "<div class=\"row\">\n");
    if (naive && !r->untouched)
        figure(&naive->shown, "naive", worst_of(&naive->shown, k, NULL), out);
    own_figures(r, k, out);
    if (answer) figure(&answer->shown, "answer", worst_of(&answer->shown, k, NULL), out);
    buf_puts(out, "</div>\n");
}

void report_picture_accesses(const struct result *r, const struct report_beside *b,
                             struct buf *out) {
    static const struct kind_of_access kinds[] = {
        {"Loads from global memory",
         "Sectors that stand apart are apart in memory; their empty parts are read for nothing.",
         false, SIM_ACCESS_LOAD},
        {"Stores to global memory", "A sector that is filled in part is written in part.", false,
         SIM_ACCESS_STORE},
        {"Atomics in global memory", "Lanes that meet on one word take turns.", false,
         SIM_ACCESS_ATOMIC},
        {"Banks of shared memory",
         "Each bank gives one word in a pass; other words of the same bank wait for the next one.",
         true, -1}};
    if (!r->naccesses && !b->nversions) return;
    buf_puts(out, "<h2>What the lanes of a warp ask for</h2>\n<p>The costliest access of each "
                  "kernel, of those that were "
                  "looked at; lanes from 0 (light) to 31 (dark).</p>\n");
    for (unsigned i = 0; i < sizeof kinds / sizeof *kinds; i++) compare(r, b, &kinds[i], out);
}

/* ---- divergence ---- */

void report_picture_divergence(const struct result *r, struct buf *out) {
    bool any = false;
    for (unsigned i = 0; i < r->nlines; i++) any |= r->lines[i].counters.divergent_branches > 0;
    if (!any) return;
    buf_puts(out, "<h2>Divergence</h2>\n<p class=\"dim\">Lines at which lanes of a warp "
                  "part.</p><div class=\"scroll\">"
                  "<table class=\"src\"><tr><th class=\"n\">line</th><th></th><th "
                  "class=\"n\">branches</th><th "
                  "class=\"n\">parted</th><th class=\"n\">of them</th></tr>\n");
    for (unsigned i = 0; i < r->nlines; i++) {
        const struct line_result *l = &r->lines[i];
        struct buf raw = {0}, clean = {0};
        if (!l->counters.divergent_branches) continue;
        if (!strcmp(l->file, r->file)) report_source_line(&r->source, l->line, true, &raw);
        text_clean(&clean, buf_str(&raw), raw.size, 200);
        buf_printf(out, "<tr><td class=\"n\">%u</td><td>", l->line), page_put(buf_str(&clean), out);
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

void report_picture_history(const struct report_beside *b, struct buf *out) {
    if (b->nruns < 2) return;
    double *score = xcalloc(b->nruns, sizeof *score), *us = xcalloc(b->nruns, sizeof *us);
    const char **names = xcalloc(b->nruns, sizeof *names);
    char(*text)[24] = xcalloc(b->nruns, sizeof *text);
    for (unsigned i = 0; i < b->nruns; i++) {
        struct tm tm;
        time_t when = (time_t)b->runs[i].when;
        if (gmtime_r(&when, &tm)) strftime(text[i], sizeof *text, "%d %b %H:%M", &tm);
        names[i] = text[i], score[i] = b->runs[i].score,
        us[i] = b->runs[i].us > 0 ? b->runs[i].us : NAN;
    }
    buf_puts(out, "<h2>Your runs</h2>\n<div class=\"row two\"><figure>");
    page_lines("Score by run", "points", names, b->nruns, &(struct page_series){"points", score}, 1,
               false, out);
    buf_puts(out, "<figcaption>Points, run by run (times are UTC).</figcaption></figure><figure>");
    page_lines("Time by run", "µs", names, b->nruns, &(struct page_series){"time", us}, 1, true,
               out);
    buf_puts(out, "<figcaption>Time, run by run.</figcaption></figure></div>\n");
    free(score), free(us), free(names), free(text);
}
