/* report_page.c — `simgpu run --report F.html`: writes the launch statistics of a run as one
 * self-contained page. run.c calls it. */
#include "common/file.h"
#include "common/grow.h"
#include "common/text.h"
#include "grader/page/page.h"
#include "grader/server/launch_stats.h"
#include "grader/simgpu/simgpu.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_FILES = 16, SOURCE_LIMIT = 1 << 20 };

struct simgpu_page {
    const struct gpu_device *device;
    const char *program;
    struct launch_stats stats;
    char *paths[MAX_FILES]; /* source files, as the line table names them */
    unsigned npaths;
};

struct simgpu_page *simgpu_page_new(const struct gpu_device *d, const char *program) {
    struct simgpu_page *p = xcalloc(1, sizeof *p);
    p->device = d, p->program = program;
    return p;
}

static void add_path(struct simgpu_page *p, const char *path) {
    for (unsigned i = 0; i < p->npaths; i++)
        if (!strcmp(p->paths[i], path)) return;
    if (path[0] && p->npaths < MAX_FILES) p->paths[p->npaths++] = xstrdup(path);
}

void simgpu_page_add(struct simgpu_page *p, const struct server_launch *l) {
    const struct sim_result *r = &l->result->sim;
    launch_stats_add_launch(&p->stats, p->device, l);
    for (unsigned i = 0; i < r->nlines; i++) add_path(p, r->lines[i].file);
}

/* ---- parts ---- */

static void put_kernel_name(const char *mangled, struct buf *out) {
    struct buf name = {0};
    buf_puts(&name, mangled);
    text_demangle(&name);
    buf_puts(out, "<code>"), html_escape_text(buf_str(&name), out), buf_puts(out, "</code>");
    buf_free(&name);
}

static void put_kernel_table(const struct launch_stats *t, struct buf *out) {
    buf_puts(out,
             "<h2>Kernels</h2>\n<div class=\"scroll\" tabindex=\"0\"><table><tr><th>kernel</th><th "
             "class=\"n\">launches</th><th "
             "class=\"n\">modelled</th><th class=\"n\">occupancy</th><th>limited by</th><th "
             "class=\"n\">registers</th><th class=\"n\">shared bytes</th><th>bound by</th></tr>\n");
    for (unsigned i = 0; i < t->nkernels; i++) {
        const struct launch_stats_kernel *k = &t->kernels[i];
        struct launch_stats_account account;
        launch_stats_kernel_account(k, &account);
        buf_puts(out, "<tr><td>"), put_kernel_name(k->name, out);
        buf_printf(out, "</td><td class=\"n\">%u</td><td class=\"n\">", k->launches);
        page_time(k->seconds * 1e6, out);
        buf_printf(out, "</td><td class=\"n\">%.0f %%</td><td class=\"w\">", 100 * k->occupancy);
        html_escape_text(k->occupancy_limit, out);
        buf_printf(out, "</td><td class=\"n\">%u</td><td class=\"n\">%u</td><td class=\"w\">",
                   k->registers, k->shared_bytes);
        html_escape_text(account.text, out);
        buf_puts(out, "</td></tr>\n");
    }
    buf_puts(out, "</table></div>\n");
}

static void put_stall_bars(const struct launch_stats *t, struct buf *out) {
    const char *names[PAGE_PARTS] = {"launch"};
    struct page_bar bar = {.name = "all kernels", .total = t->seconds * 1e6};
    for (unsigned k = 0; k < SIM_STALL_COUNT; k++) names[k + 1] = sim_stall_text(k);
    for (unsigned i = 0; i < t->nkernels; i++)
        bar.parts[0] += t->kernels[i].components[TIME_COMPONENT_LAUNCH];
    for (unsigned i = 0; i < t->nlines; i++)
        for (unsigned k = 0; k < SIM_STALL_COUNT; k++)
            bar.parts[k + 1] += t->lines[i].stall_seconds[k];
    buf_puts(out, "<figure>");
    page_stacked_bars("Time by stall reason", &bar, 1, names, out);
    buf_puts(out, "<figcaption>The modelled time, by stall reason.</figcaption></figure>\n");
}

struct sim_access simgpu_to_sim_access(const struct launch_stats_access *t) {
    struct sim_access a = {
        .file = t->file, .line = t->line, .mask = t->mask, .kind = (uint8_t)t->kind};
    a.lane_bytes = (uint8_t)t->bytes, a.is_shared = t->shared, a.cost = (uint16_t)t->cost;
    memcpy(a.offset, t->offset, sizeof a.offset);
    return a;
}

static double access_waste(const struct launch_stats_access *t) {
    struct sim_access a = simgpu_to_sim_access(t);
    unsigned bytes, ideal = page_ideal_sectors(&a, &bytes);
    return t->shared || t->kind == SIM_ACCESS_ATOMIC ? t->cost
                                                     : (double)t->cost / (ideal ? ideal : 1);
}

static int compare_waste(const void *x, const void *y) {
    double a = access_waste(x), b = access_waste(y);
    return (a < b) - (a > b);
}

static void put_access_figure(const struct launch_stats_access *t, struct buf *out) {
    static const char *const access_names[] = {"load", "store", "atomic"};
    struct sim_access a = simgpu_to_sim_access(t);
    buf_puts(out, "<figure>");
    (a.is_shared ? page_map_banks : page_map_sectors)(&a, out);
    buf_puts(out, "<figcaption>"), put_kernel_name(t->kernel, out), buf_puts(out, ", "),
        html_escape_text(t->file, out);
    buf_printf(out, ":%u, %s memory, %s of %u bytes: %u %s</figcaption></figure>\n", t->line,
               t->shared ? "shared" : "global", access_names[t->kind], t->bytes, t->cost,
               t->kind == SIM_ACCESS_ATOMIC ? "serialized"
               : t->shared                  ? (t->cost == 1 ? "wavefront" : "wavefronts")
                                            : (t->cost == 1 ? "sector" : "sectors"));
}

/* Draws the costliest accesses to shared and to global memory. */
static void put_access_figures(struct launch_stats *t, struct buf *out) {
    enum { MAX_FIGURES = 6 };
    if (!t->naccesses) return;
    qsort(t->accesses, t->naccesses, sizeof *t->accesses, compare_waste);
    buf_puts(out, "<h2>Memory access patterns</h2>\n<p>The costliest accesses of a warp. Colour "
                  "shows the lane, from 0 (light) to 31 (dark).</p>\n");
    for (unsigned shared = 0; shared < 2; shared++) {
        buf_puts(out, "<div class=\"row\">\n");
        for (unsigned i = 0, n = 0; i < t->naccesses && n < MAX_FIGURES; i++)
            if (t->accesses[i].shared == shared) put_access_figure(&t->accesses[i], out), n++;
        buf_puts(out, "</div>\n");
    }
}

/* ---- source ---- */

struct line_totals {
    double seconds;
    uint64_t instructions, sectors, wavefronts;
};

static struct line_totals line_totals_of(const struct launch_stats_line *l) {
    struct line_totals s = {0};
    for (unsigned k = 0; k < SIM_STALL_COUNT; k++) s.seconds += l->stall_seconds[k];
    s.instructions = l->counters.inst_executed;
    s.sectors = l->counters.global_load_sectors + l->counters.global_store_sectors +
                l->counters.atomic_sectors;
    s.wavefronts = l->counters.shared_load_wavefronts + l->counters.shared_store_wavefronts +
                   l->counters.shared_atomic_wavefronts;
    return s;
}

static struct line_totals total_of_lines(const struct launch_stats *t) {
    struct line_totals totals = {0};
    for (unsigned i = 0; i < t->nlines; i++) {
        struct line_totals s = line_totals_of(&t->lines[i]);
        totals.seconds += s.seconds, totals.instructions += s.instructions,
            totals.sectors += s.sectors, totals.wavefronts += s.wavefronts;
    }
    return totals;
}

static double percent(double part, double total) { return total > 0 ? 100 * part / total : 0; }

static void put_percent_cell(double v, struct buf *out) {
    if (v < 0.05) buf_puts(out, "<td></td>");
    else buf_printf(out, "<td class=\"n\">%.1f</td>", v);
}

static void put_source_row(const struct launch_stats_line *l, unsigned n,
                           const struct line_totals *totals, const char *text, size_t size,
                           struct buf *out) {
    struct line_totals s = l ? line_totals_of(l) : (struct line_totals){0};
    struct buf clean = {0};
    double time = percent(s.seconds, totals->seconds);
    text_clean(&clean, text, size, 400);
    buf_printf(out, "<tr class=\"h%d\"><td class=\"n\">%u</td>",
               time < 2    ? 0
               : time < 10 ? 1
               : time < 25 ? 2
               : time < 50 ? 3
                           : 4,
               n);
    put_percent_cell(time, out),
        put_percent_cell(percent((double)s.instructions, (double)totals->instructions), out);
    put_percent_cell(percent((double)s.sectors, (double)totals->sectors), out);
    put_percent_cell(percent((double)s.wavefronts, (double)totals->wavefronts), out);
    buf_puts(out, "<td>"), html_escape(buf_str(&clean), clean.size, out),
        buf_puts(out, "</td></tr>\n");
    buf_free(&clean);
}

static const struct launch_stats_line *find_line(const struct launch_stats *t, const char *file,
                                                 unsigned n) {
    for (unsigned i = 0; i < t->nlines; i++)
        if (t->lines[i].line == n && !strcmp(t->lines[i].file, file)) return &t->lines[i];
    return NULL;
}

/* Omits the toolkit's own headers, which the user cannot change. */
static void put_source_table(const struct launch_stats *t, const char *path,
                             const struct line_totals *totals, struct buf *out) {
    struct buf text = {0};
    struct err e = {0};
    if (strstr(path, "/include/") || !file_read(path, SOURCE_LIMIT, &text, &e)) {
        buf_free(&text);
        return;
    }
    page_element("h2", "", path_basename(path), out);
    buf_puts(out, "<div class=\"scroll\" tabindex=\"0\"><table class=\"src\"><tr><th></th><th "
                  "class=\"n\">time</th><th "
                  "class=\"n\">instr.</th>"
                  "<th class=\"n\">sectors</th><th class=\"n\">wavefronts</th>"
                  "<th>% of total</th></tr>\n");
    unsigned n = 1;
    for (const char *s = buf_str(&text); *s && n < 4000; n++) {
        size_t size = strcspn(s, "\n");
        put_source_row(find_line(t, path_basename(path), n), n, totals, s, size, out);
        s += size + (s[size] == '\n');
    }
    buf_puts(out, "</table></div>\n");
    buf_free(&text);
}

const struct launch_stats *simgpu_page_stats(const struct simgpu_page *p) { return &p->stats; }
const char *simgpu_page_source(const struct simgpu_page *p, unsigned i) {
    return i < p->npaths ? p->paths[i] : NULL;
}

void simgpu_page_free(struct simgpu_page *p) {
    for (unsigned i = 0; i < p->npaths; i++) free(p->paths[i]);
    launch_stats_free(&p->stats);
    free(p);
}

bool simgpu_page_write(struct simgpu_page *p, const char *path, struct err *e) {
    struct buf out = {0};
    struct line_totals totals = total_of_lines(&p->stats);
    page_open(path_basename(p->program), NULL, &out);
    page_element("h1", "", path_basename(p->program), &out);
    buf_printf(&out, "<p class=\"dim\">%u launches on ", p->stats.launches);
    html_escape_text(p->device->full_name, &out);
    buf_puts(&out, ", simulated; "), page_time(p->stats.seconds * 1e6, &out),
        buf_puts(&out, " modelled</p>\n");
    if (p->stats.launches)
        put_kernel_table(&p->stats, &out), put_stall_bars(&p->stats, &out),
            put_access_figures(&p->stats, &out);
    for (unsigned i = 0; i < p->npaths; i++)
        put_source_table(&p->stats, p->paths[i], &totals, &out);
    page_close(NULL, &out);
    bool ok = file_write_output(path, buf_str(&out), out.size, e);
    buf_free(&out);
    return ok;
}
