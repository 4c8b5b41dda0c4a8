/* report_profile.c — the lines of the student's source and their shares of what the launches cost:
 * the hottest ones, hottest first, source on the left, as many columns as the width has room for,
 * those that stand out before the others; or all lines in order with all columns in which anything
 * was counted. Hot lines are bold, with a mark for those without colour. */
#include "common/text.h"
#include "common/where.h"
#include "grader/page/page.h"
#include "grader/report/report.h"

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { COLUMN = 9, MAX_LINES = 4000, HOTTEST = 12, WARM = 1 /* % */ };

/* A column: a share of a total, or a quotient of two counters on that line. */
struct column {
    const char *head[2], *text;
    size_t part, per; /* offsets of counters; per = SIZE_MAX: share of the total */
    double warn;      /* from here on the figure stands out */
};
#define AT(c) offsetof(struct sim_counters, c)
static const struct column columns[] = {
    {{"instr", "%"}, "share of the warp instructions issued", AT(inst_executed), SIZE_MAX, 25},
    {{"load", "sect %"},
     "share of the 32-byte sectors that global loads touch",
     AT(global_load_sectors),
     SIZE_MAX,
     50},
    {{"sectors", "/load"},
     "sectors per warp-wide load; 4 is packed for floats",
     AT(global_load_sectors),
     AT(global_load_requests),
     8},
    {{"store", "sect %"},
     "share of the sectors that global stores touch",
     AT(global_store_sectors),
     SIZE_MAX,
     50},
    {{"sectors", "/store"},
     "sectors per warp-wide store",
     AT(global_store_sectors),
     AT(global_store_requests),
     8},
    {{"smem ld", "passes"},
     "passes of shared memory per load; 1 is free of conflicts for floats",
     AT(shared_load_wavefronts),
     AT(shared_load_requests),
     2},
    {{"smem st", "passes"},
     "passes of shared memory per store",
     AT(shared_store_wavefronts),
     AT(shared_store_requests),
     2},
    {{"atomics", "%"},
     "share of the global atomic operations",
     AT(atomic_operations),
     SIZE_MAX,
     50},
    {{"sh.atom", "passes"},
     "passes per shared-memory atomic",
     AT(shared_atomic_serialized),
     AT(shared_atomic_requests),
     2},
    {{"local", "sect %"}, "share of the local-memory sectors", AT(local_sectors), SIZE_MAX, 25},
    {{"parted", "%"},
     "share of the branches at which lanes of a warp parted",
     AT(divergent_branches),
     SIZE_MAX,
     50},
    {{"lanes", "/instr"},
     "active lanes of an instruction, 32 at best",
     AT(thread_inst_executed),
     AT(inst_executed),
     1e9},
};
enum { NCOLUMNS = sizeof columns / sizeof *columns };

static uint64_t get(const struct sim_counters *c, size_t offset) {
    return *(const uint64_t *)((const char *)c + offset);
}

static bool in_use(const struct result *r, const struct column *c) {
    return get(&r->counters, c->part) > 0;
}

/* The figure of a line, or -1 where it has none. */
static double figure(const struct result *r, const struct line_result *l, const struct column *c) {
    uint64_t part = get(&l->counters, c->part),
             per = c->per == SIZE_MAX ? get(&r->counters, c->part) : get(&l->counters, c->per);
    if (!part || !per) return -1;
    return (c->per == SIZE_MAX ? 100.0 : 1.0) * (double)part / (double)per;
}

/* ---- time: what warps spend at a line, and on what ---- */

enum { TIME = 7, WAITS = 23 };
/* clang-format off */
#define X(id, text) _Static_assert(sizeof text - 1 <= WAITS - 2, "a column too narrow for: " text);
SIM_STALL_REASONS(X)
#undef X
/* clang-format on */

static double seconds_of(const struct line_result *l) {
    double all = 0;
    for (unsigned k = 0; l && k < SIM_STALL_COUNT; k++) all += l->waits[k];
    return all;
}

/* Per cent of the modelled time, of all lines; 0 where none was modelled. */
static double time_share(const struct result *r, const struct line_result *l) {
    double all = 0;
    for (unsigned i = 0; i < r->nlines; i++) all += seconds_of(&r->lines[i]);
    return all > 0 ? 100 * seconds_of(l) / all : 0;
}

static bool has_times(const struct result *r) {
    for (unsigned i = 0; i < r->nlines; i++)
        if (seconds_of(&r->lines[i]) > 0) return true;
    return false;
}

/* "62.3  DRAM", in TIME + WAITS columns: the share, and what most of it waits for. */
static void time_and_wait(const struct result *r, const struct line_result *l,
                          const struct report_style *s, struct buf *out) {
    enum { WARN_FROM = 25 };
    double share = time_share(r, l);
    unsigned worst = 0;
    for (unsigned k = 1; l && k < SIM_STALL_COUNT; k++)
        if (l->waits[k] > l->waits[worst]) worst = k;
    if (share < 0.05) buf_printf(out, "%*s", TIME + WAITS, "");
    else
        buf_printf(out, "%s%*.1f%s  %-*s", share >= WARN_FROM ? report_ink(s, INK_WARN) : "", TIME,
                   share, share >= WARN_FROM ? report_ink(s, INK_NONE) : "", WAITS - 2,
                   sim_stall_text(worst));
}

static void time_heading(unsigned row, struct buf *out) {
    buf_printf(out, "%*s  %-*s", TIME, row ? "%" : "time", WAITS - 2, row ? "most for" : "waits");
}

static void heading(const struct result *r, const struct report_style *s, struct buf *out) {
    for (int row = 0; row < 2; row++) {
        buf_puts(out, report_ink(s, INK_DIM));
        if (has_times(r)) time_heading((unsigned)row, out);
        for (unsigned i = 0; i < NCOLUMNS; i++)
            if (in_use(r, &columns[i])) buf_printf(out, "%*s", COLUMN, columns[i].head[row]);
        buf_printf(out, "  %5s%s\n", row ? "line" : "", report_ink(s, INK_NONE));
    }
}

static bool is_hot(const struct result *r, const struct line_result *l) {
    for (unsigned i = 0; i < NCOLUMNS; i++)
        if (columns[i].per == SIZE_MAX && in_use(r, &columns[i]) &&
            figure(r, l, &columns[i]) >= columns[i].warn)
            return true;
    return time_share(r, l) >= 25;
}

static void figures(const struct result *r, const struct line_result *l,
                    const struct report_style *s, struct buf *out) {
    if (has_times(r)) time_and_wait(r, l, s, out);
    for (unsigned i = 0; i < NCOLUMNS; i++) {
        if (!in_use(r, &columns[i])) continue;
        double f = l ? figure(r, l, &columns[i]) : -1;
        if (f < 0) buf_printf(out, "%*s", COLUMN, "");
        else
            buf_printf(out, "%s%*.1f%s", f >= columns[i].warn ? report_ink(s, INK_WARN) : "",
                       COLUMN, f, f >= columns[i].warn ? report_ink(s, INK_NONE) : "");
    }
}

/* ---- the hottest lines ---- */

/* In per cent: the share of the time, where that is known, and between equals the largest of the
 * others; else that one. */
static double heat(const struct result *r, const struct line_result *l) {
    double most = 0;
    for (unsigned i = 0; i < NCOLUMNS; i++)
        if (columns[i].per == SIZE_MAX && in_use(r, &columns[i]) &&
            figure(r, l, &columns[i]) > most)
            most = figure(r, l, &columns[i]);
    return has_times(r) ? time_share(r, l) + most / 1000 : most;
}

/* The next line after `last` in order of heat, then of place; NULL = none that is warm. */
static const struct line_result *next_hottest(const struct result *r,
                                              const struct line_result *last) {
    const struct line_result *best = NULL;
    for (unsigned i = 0; i < r->nlines; i++) {
        const struct line_result *l = &r->lines[i];
        bool after =
            !last || heat(r, l) < heat(r, last) || (heat(r, l) == heat(r, last) && l > last);
        if (after && heat(r, l) >= (has_times(r) ? 0.01 : WARM) &&
            (!best || heat(r, l) > heat(r, best)))
            best = l;
    }
    return best;
}

/* Does a line's figure in this column stand out? */
static bool matters(const struct result *r, const struct column *c) {
    for (unsigned i = 0; i < r->nlines; i++)
        if (figure(r, &r->lines[i], c) >= c->warn) return true;
    return false;
}

/* Marks at most `room` columns: those that matter, then others that have figures. */
static void choose_columns(const struct result *r, unsigned room, bool chosen[NCOLUMNS]) {
    for (unsigned pass = 0; pass < 2; pass++)
        for (unsigned i = 0; i < NCOLUMNS && room; i++)
            if (!chosen[i] && in_use(r, &columns[i]) && matters(r, &columns[i]) == !pass)
                chosen[i] = true, room--;
}

static void hot_figures(const struct result *r, const struct line_result *l,
                        const bool chosen[NCOLUMNS], const struct report_style *s,
                        struct buf *out) {
    for (unsigned i = 0; i < NCOLUMNS; i++) {
        double f = chosen[i] ? figure(r, l, &columns[i]) : 0;
        if (!chosen[i]) continue;
        if (f < 0) buf_printf(out, "%*s", COLUMN, "");
        else
            buf_printf(out, "%s%*.1f%s", f >= columns[i].warn ? report_ink(s, INK_WARN) : "",
                       COLUMN, f, f >= columns[i].warn ? report_ink(s, INK_NONE) : "");
    }
}

/* Cut or filled to `width` columns. */
static void fit(const char *text, unsigned width, struct buf *out) {
    unsigned n = 0;
    const char *p = text;
    for (; *p && n < width; n++) {
        p++;
        while (((unsigned char)*p & 0xc0) == 0x80) p++;
    }
    bool cut = *p != 0;
    while (cut && p > text && ((unsigned char)*--p & 0xc0) == 0x80) {}
    buf_add(out, text, (size_t)(p - text));
    if (cut) buf_puts(out, "…");
    buf_printf(out, "%*s", (int)(width - n), "");
}

static void hot_line(const struct result *r, const struct line_result *l, unsigned width,
                     const bool chosen[NCOLUMNS], const struct report_style *s, struct buf *out) {
    struct buf raw = {0}, clean = {0};
    bool own = l->line && !strcmp(l->file, r->file), hot = is_hot(r, l);
    if (own) report_source_line(&r->source, l->line, true, &raw);
    else if (l->line) buf_printf(&raw, "(%s)", l->file);
    else buf_puts(&raw, "(the compiler names no line)");
    text_clean(&clean, buf_str(&raw), raw.size, 400);
    text_replace(&clean, "\t", "    ");
    buf_printf(out, "%s%s%5u%s  %s", hot ? ">" : " ", report_ink(s, INK_DIM), l->line,
               report_ink(s, INK_NONE), hot ? report_ink(s, INK_BOLD) : "");
    fit(buf_str(&clean), width, out);
    buf_puts(out, hot ? report_ink(s, INK_NONE) : "");
    if (has_times(r)) time_and_wait(r, l, s, out);
    hot_figures(r, l, chosen, s, out);
    buf_puts(out, "\n");
    buf_free(&raw), buf_free(&clean);
}

static void time_legend(const struct report_style *s, struct buf *out) {
    buf_printf(
        out,
        "%stime %%: share of the modelled time that warps spend at the line, and what most of it "
        "waits for\n"
        "(a line waits for what it reads: a load's time stands where its value is first used)%s\n",
        report_ink(s, INK_DIM), report_ink(s, INK_NONE));
}

static void hottest(const struct result *r, const struct report_style *s, struct buf *out) {
    enum { PLACE = 8, LEAST_SOURCE = 28 };
    unsigned width = s->width > PLACE + LEAST_SOURCE + TIME + WAITS ? s->width : 100, used = 0;
    bool chosen[NCOLUMNS] = {false};
    unsigned times = has_times(r) ? TIME + WAITS : 0, fixed = PLACE + LEAST_SOURCE + times;
    choose_columns(r, width > fixed ? (width - fixed) / COLUMN : 0, chosen);
    for (unsigned i = 0; i < NCOLUMNS; i++) used += chosen[i];
    unsigned source_width = width - PLACE - times - used * COLUMN;
    for (unsigned row = 0; row < 2; row++) {
        buf_printf(out, "%s%6s  %-*s", report_ink(s, INK_DIM), row ? "line" : "", (int)source_width,
                   row ? "hottest first" : "");
        if (times) time_heading(row, out);
        for (unsigned i = 0; i < NCOLUMNS; i++)
            if (chosen[i]) buf_printf(out, "%*s", COLUMN, columns[i].head[row]);
        buf_printf(out, "%s\n", report_ink(s, INK_NONE));
    }
    const struct line_result *l = NULL;
    for (unsigned n = 0; n < HOTTEST && (l = next_hottest(r, l)); n++)
        hot_line(r, l, source_width, chosen, s, out);
    buf_printf(out, "\n");
    if (times) time_legend(s, out);
    for (unsigned i = 0; i < NCOLUMNS; i++)
        if (chosen[i])
            buf_printf(out, "%s%s %s: %s%s\n", report_ink(s, INK_DIM), columns[i].head[0],
                       columns[i].head[1], columns[i].text, report_ink(s, INK_NONE));
    buf_printf(out, "%s%s profile %s --all shows every line and every column%s\n",
               report_ink(s, INK_DIM), where_typed("grader"), r->ex->name, report_ink(s, INK_NONE));
}

/* ---- all lines ---- */

static const struct line_result *find(const struct result *r, unsigned line) {
    for (unsigned i = 0; i < r->nlines; i++)
        if (r->lines[i].line == line && !strcmp(r->lines[i].file, r->file)) return &r->lines[i];
    return NULL;
}

static void source(const struct result *r, const struct report_style *s, struct buf *out) {
    unsigned total = 1;
    for (size_t i = 0; i + 1 < r->source.size && total < MAX_LINES; i++)
        total += r->source.data[i] == '\n';
    for (unsigned n = 1; n <= total; n++) {
        const struct line_result *l = find(r, n);
        bool hot = l && is_hot(r, l);
        struct buf raw = {0}, clean = {0};
        report_source_line(&r->source, n, false, &raw);
        text_clean(&clean, buf_str(&raw), raw.size, 400);
        text_replace(&clean, "\t", "    ");
        figures(r, l, s, out);
        buf_printf(out, " %s%s%5u%s %s%s%s\n", hot ? ">" : " ", report_ink(s, INK_DIM), n,
                   report_ink(s, INK_NONE), hot ? report_ink(s, INK_BOLD) : "", buf_str(&clean),
                   hot ? report_ink(s, INK_NONE) : "");
        buf_free(&raw), buf_free(&clean);
    }
}

/* Lines of headers that were inlined, and what has no line. */
static void other_lines(const struct result *r, const struct report_style *s, struct buf *out) {
    for (unsigned i = 0; i < r->nlines; i++) {
        const struct line_result *l = &r->lines[i];
        if (l->line && !strcmp(l->file, r->file)) continue;
        figures(r, l, s, out);
        if (l->line) buf_printf(out, "  %s:%u\n", l->file, l->line);
        else buf_puts(out, "  (the compiler names no line)\n");
    }
}

/* Share of the time, what it needs of an SM, what ends both. */
static void kernel_line(const struct kernel_time *k, double all, bool several, struct buf *out) {
    buf_printf(out, "%s: ", k->name);
    if (several) buf_printf(out, "%.0f %% of the time, ", 100 * k->us / all);
    if (k->launches > 1) buf_printf(out, "%u launches, ", k->launches);
    page_time(k->us, out);
    buf_printf(out, "; %u registers, occupancy %.0f %%", k->registers, 100 * k->occupancy);
    if (k->limit[0]) buf_printf(out, " (%s)", k->limit);
    if (k->spill_bytes) buf_printf(out, ", %u bytes of spills", k->spill_bytes);
    if (k->bound_by[0] && several)
        buf_printf(out, "; %.*s", (int)strcspn(k->bound_by, "%"), k->bound_by), buf_puts(out, "%");
    buf_puts(out, "\n");
}

static void kernels(const struct result *r, const struct report_style *s, struct buf *out) {
    double all = 0;
    struct buf text = {0};
    for (unsigned i = 0; i < r->ntimes; i++) all += r->times[i].us;
    for (unsigned i = 0; i < r->ntimes && all > 0; i++)
        kernel_line(&r->times[i], all, r->ntimes > 1, &text);
    report_wrapped(buf_str(&text), 0, s, out);
    buf_free(&text);
    for (unsigned i = 0; i < r->nkernels && !(all > 0); i++) {
        buf_printf(out, "%s: %u registers a thread", r->kernels[i].name, r->kernels[i].registers);
        if (r->kernels[i].spill_bytes)
            buf_printf(out, ", %u bytes of spills", r->kernels[i].spill_bytes);
        buf_puts(out, " (ptxas)\n");
    }
}

static void totals(const struct result *r, const struct report_style *s, struct buf *out) {
    const struct sim_counters *c = &r->counters;
    page_number((double)c->inst_executed, out), buf_puts(out, " warp instructions");
    if (c->global_load_requests) {
        buf_puts(out, " · "), page_number((double)c->global_load_requests, out);
        buf_printf(out, " loads of %.2f sectors",
                   (double)c->global_load_sectors / (double)c->global_load_requests);
    }
    if (c->global_store_requests) {
        buf_puts(out, " · "), page_number((double)c->global_store_requests, out);
        buf_printf(out, " stores of %.2f",
                   (double)c->global_store_sectors / (double)c->global_store_requests);
    }
    if (c->shared_load_bank_conflicts + c->shared_store_bank_conflicts) {
        buf_puts(out, " · "),
            page_number((double)(c->shared_load_bank_conflicts + c->shared_store_bank_conflicts),
                        out);
        buf_puts(out, " bank conflicts");
    }
    buf_puts(out, "\n");
    kernels(r, s, out);
}

void report_profile(const struct result *r, const struct gpu_device *d,
                    const struct report_style *s, bool all, struct buf *out) {
    struct buf size = {0};
    for (unsigned i = 0; i < r->ncases; i++)
        if (text_ends(r->cases[i].name, " (counted)"))
            buf_add(&size, r->cases[i].name, strlen(r->cases[i].name) - 10);
    buf_printf(out, "%s%s%s  %s, counted at %s\n", report_ink(s, INK_BOLD), r->id,
               report_ink(s, INK_NONE), r->file, buf_str(&size));
    buf_free(&size);
    totals(r, s, out);
    if (r->speed.valid) report_speed(r, d, s, out);
    buf_puts(out, "\n");
    if (!all) {
        hottest(r, s, out);
        return;
    }
    heading(r, s, out);
    source(r, s, out);
    other_lines(r, s, out);
    buf_puts(out, "\n");
    if (has_times(r)) time_legend(s, out);
    for (unsigned i = 0; i < NCOLUMNS; i++)
        if (in_use(r, &columns[i]))
            buf_printf(out, "%s%s %s: %s%s\n", report_ink(s, INK_DIM), columns[i].head[0],
                       columns[i].head[1], columns[i].text, report_ink(s, INK_NONE));
}
