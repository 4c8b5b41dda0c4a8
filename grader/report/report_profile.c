/* report_profile.c — the profile: the lines of the student's source with their shares of the cost.
 * It lists the hottest lines, hottest first, with as many columns as fit, notable ones before the
 * others; or all lines in source order with every column that has a value. Hot lines are bold, and
 * marked for terminals without colour. */
#include "common/text.h"
#include "common/paths.h"
#include "grader/page/page.h"
#include "grader/report/report.h"

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { COLUMN_WIDTH = 9, MAX_LINES = 4000, MAX_HOT_LINES = 12, MIN_HEAT_PERCENT = 1 /* % */ };

/* A column: a share of a total, or a quotient of two counters on that line. */
struct column {
    const char *header[2], *description;
    size_t numerator, denominator; /* offsets; denominator SIZE_MAX: share of the total */
    double warn_from;              /* the value is highlighted from here on */
};
#define COUNTER_OFFSET(c) offsetof(struct sim_counters, c)
static const struct column columns[] = {
    {{"instr", "%"},
     "share of the warp instructions issued",
     COUNTER_OFFSET(inst_executed),
     SIZE_MAX,
     25},
    {{"load", "sect %"},
     "share of the 32-byte sectors that global loads touch",
     COUNTER_OFFSET(global_load_sectors),
     SIZE_MAX,
     50},
    {{"sectors", "/load"},
     "sectors per load request; 4 is ideal for floats",
     COUNTER_OFFSET(global_load_sectors),
     COUNTER_OFFSET(global_load_requests),
     8},
    {{"store", "sect %"},
     "share of the sectors that global stores touch",
     COUNTER_OFFSET(global_store_sectors),
     SIZE_MAX,
     50},
    {{"sectors", "/store"},
     "sectors per store request",
     COUNTER_OFFSET(global_store_sectors),
     COUNTER_OFFSET(global_store_requests),
     8},
    {{"wavefr.", "/sh.ld"},
     "wavefronts per shared memory load; 1 means no bank conflicts for floats",
     COUNTER_OFFSET(shared_load_wavefronts),
     COUNTER_OFFSET(shared_load_requests),
     2},
    {{"wavefr.", "/sh.st"},
     "wavefronts per shared memory store",
     COUNTER_OFFSET(shared_store_wavefronts),
     COUNTER_OFFSET(shared_store_requests),
     2},
    {{"wavefr.", "/sh.atom"},
     "wavefronts per shared memory atomic: lanes on different words of one bank",
     COUNTER_OFFSET(shared_atomic_wavefronts),
     COUNTER_OFFSET(shared_atomic_requests),
     2},
    {{"atomics", "%"},
     "share of the global atomic operations",
     COUNTER_OFFSET(atomic_operations),
     SIZE_MAX,
     50},
    {{"serial.", "/sh.atom"},
     "serialized updates per shared memory atomic",
     COUNTER_OFFSET(shared_atomic_serialized),
     COUNTER_OFFSET(shared_atomic_requests),
     2},
    {{"local", "sect %"},
     "share of the local memory sectors",
     COUNTER_OFFSET(local_sectors),
     SIZE_MAX,
     25},
    {{"diverg.", "%"},
     "share of the divergent branches",
     COUNTER_OFFSET(divergent_branches),
     SIZE_MAX,
     50},
    {{"lanes", "/instr"},
     "active lanes per instruction, at most 32",
     COUNTER_OFFSET(thread_inst_executed),
     COUNTER_OFFSET(inst_executed),
     1e9},
};
enum { NCOLUMNS = sizeof columns / sizeof *columns };

static uint64_t counter_at(const struct sim_counters *c, size_t offset) {
    return *(const uint64_t *)((const char *)c + offset);
}

static bool is_used(const struct result *r, const struct column *c) {
    return counter_at(&r->counters, c->numerator) > 0;
}

/* Returns the value of a column on a line, or -1 if there is none. */
static double column_value(const struct result *r, const struct line_result *l,
                           const struct column *c) {
    uint64_t part = counter_at(&l->counters, c->numerator),
             per = c->denominator == SIZE_MAX ? counter_at(&r->counters, c->numerator)
                                              : counter_at(&l->counters, c->denominator);
    if (!part || !per) return -1;
    return (c->denominator == SIZE_MAX ? 100.0 : 1.0) * (double)part / (double)per;
}

/* ---- time and stall reasons ---- */

enum { TIME_WIDTH = 7, STALL_WIDTH = 23 };
/* clang-format off */
#define X(id, text) _Static_assert(sizeof text - 1 <= STALL_WIDTH - 2, "a column too narrow for: " text);
SIM_STALL_REASONS(X)
#undef X
/* clang-format on */

static double total_stall_seconds(const struct line_result *l) {
    double total = 0;
    for (unsigned k = 0; l && k < SIM_STALL_COUNT; k++) total += l->stall_seconds[k];
    return total;
}

/* Returns the line's share of the modelled time in percent; 0 if no time was modelled. */
static double time_share(const struct result *r, const struct line_result *l) {
    double total = 0;
    for (unsigned i = 0; i < r->nlines; i++) total += total_stall_seconds(&r->lines[i]);
    return total > 0 ? 100 * total_stall_seconds(l) / total : 0;
}

static bool has_times(const struct result *r) {
    for (unsigned i = 0; i < r->nlines; i++)
        if (total_stall_seconds(&r->lines[i]) > 0) return true;
    return false;
}

/* Writes the share of time and the top stall reason in TIME_WIDTH + STALL_WIDTH columns: "62.3
 * long scoreboard DRAM". */
static void write_time_and_stall(const struct result *r, const struct line_result *l,
                                 const struct report_style *s, struct buf *out) {
    enum { WARN_PERCENT = 25 };
    double share = time_share(r, l);
    unsigned worst = 0;
    for (unsigned k = 1; l && k < SIM_STALL_COUNT; k++)
        if (l->stall_seconds[k] > l->stall_seconds[worst]) worst = k;
    if (share < 0.05) buf_printf(out, "%*s", TIME_WIDTH + STALL_WIDTH, "");
    else
        buf_printf(out, "%s%*.1f%s  %-*s",
                   share >= WARN_PERCENT ? report_style_escape(s, TEXT_STYLE_WARN) : "", TIME_WIDTH,
                   share, share >= WARN_PERCENT ? report_style_escape(s, TEXT_STYLE_NONE) : "",
                   STALL_WIDTH - 2, sim_stall_text(worst));
}

static void write_time_heading(unsigned row, struct buf *out) {
    buf_printf(out, "%*s  %-*s", TIME_WIDTH, row ? "%" : "time", STALL_WIDTH - 2,
               row ? "reason" : "top stall");
}

static void write_heading(const struct result *r, const struct report_style *s, struct buf *out) {
    for (int row = 0; row < 2; row++) {
        buf_puts(out, report_style_escape(s, TEXT_STYLE_DIM));
        if (has_times(r)) write_time_heading((unsigned)row, out);
        for (unsigned i = 0; i < NCOLUMNS; i++)
            if (is_used(r, &columns[i]))
                buf_printf(out, "%*s", COLUMN_WIDTH, columns[i].header[row]);
        buf_printf(out, "  %5s%s\n", row ? "line" : "", report_style_escape(s, TEXT_STYLE_NONE));
    }
}

static bool is_hot(const struct result *r, const struct line_result *l) {
    for (unsigned i = 0; i < NCOLUMNS; i++)
        if (columns[i].denominator == SIZE_MAX && is_used(r, &columns[i]) &&
            column_value(r, l, &columns[i]) >= columns[i].warn_from)
            return true;
    return time_share(r, l) >= 25;
}

/* Writes a column's value, highlighted from its warning limit on; a negative value leaves it blank.
 */
static void write_value(const struct column *c, double value, const struct report_style *s,
                        struct buf *out) {
    if (value < 0) {
        buf_printf(out, "%*s", COLUMN_WIDTH, "");
        return;
    }
    bool warns = value >= c->warn_from;
    buf_printf(out, "%s%*.1f%s", warns ? report_style_escape(s, TEXT_STYLE_WARN) : "", COLUMN_WIDTH,
               value, warns ? report_style_escape(s, TEXT_STYLE_NONE) : "");
}

static void write_values(const struct result *r, const struct line_result *l,
                         const struct report_style *s, struct buf *out) {
    if (has_times(r)) write_time_and_stall(r, l, s, out);
    for (unsigned i = 0; i < NCOLUMNS; i++) {
        if (!is_used(r, &columns[i])) continue;
        write_value(&columns[i], l ? column_value(r, l, &columns[i]) : -1, s, out);
    }
}

/* ---- the hottest lines ---- */

/* Returns the sort key in percent: the share of the time, if known, with the largest other share to
 * break ties; else that share. */
static double heat(const struct result *r, const struct line_result *l) {
    double max_share = 0;
    for (unsigned i = 0; i < NCOLUMNS; i++)
        if (columns[i].denominator == SIZE_MAX && is_used(r, &columns[i]) &&
            column_value(r, l, &columns[i]) > max_share)
            max_share = column_value(r, l, &columns[i]);
    return has_times(r) ? time_share(r, l) + max_share / 1000 : max_share;
}

/* Returns the line after `previous` in order of heat, then position; NULL if no other line is warm.
 */
static const struct line_result *find_next_hottest(const struct result *r,
                                                   const struct line_result *previous) {
    const struct line_result *hottest_line = NULL;
    for (unsigned i = 0; i < r->nlines; i++) {
        const struct line_result *l = &r->lines[i];
        bool comes_after = !previous || heat(r, l) < heat(r, previous) ||
                           (heat(r, l) == heat(r, previous) && l > previous);
        if (comes_after && heat(r, l) >= (has_times(r) ? 0.01 : MIN_HEAT_PERCENT) &&
            (!hottest_line || heat(r, l) > heat(r, hottest_line)))
            hottest_line = l;
    }
    return hottest_line;
}

/* Returns true if the column highlights any line. */
static bool is_notable(const struct result *r, const struct column *c) {
    for (unsigned i = 0; i < r->nlines; i++)
        if (column_value(r, &r->lines[i], c) >= c->warn_from) return true;
    return false;
}

/* Chooses at most `max_columns` columns: notable ones first, then others that have values. */
static void choose_columns(const struct result *r, unsigned max_columns, bool chosen[NCOLUMNS]) {
    for (unsigned pass = 0; pass < 2; pass++)
        for (unsigned i = 0; i < NCOLUMNS && max_columns; i++)
            if (!chosen[i] && is_used(r, &columns[i]) && is_notable(r, &columns[i]) == !pass)
                chosen[i] = true, max_columns--;
}

static void write_chosen_values(const struct result *r, const struct line_result *l,
                                const bool chosen[NCOLUMNS], const struct report_style *s,
                                struct buf *out) {
    for (unsigned i = 0; i < NCOLUMNS; i++) {
        if (chosen[i]) write_value(&columns[i], column_value(r, l, &columns[i]), s, out);
    }
}

/* Writes the text cut or padded to `width` columns. */
static void write_fitted(const char *text, unsigned width, struct buf *out) {
    unsigned n = 0;
    const char *p = text;
    for (; *p && n < width; n++) {
        p++;
        while (((unsigned char)*p & 0xc0) == 0x80) p++;
    }
    bool is_truncated = *p != 0;
    while (is_truncated && p > text && ((unsigned char)*--p & 0xc0) == 0x80) {}
    buf_add(out, text, (size_t)(p - text));
    if (is_truncated) buf_puts(out, "…");
    buf_printf(out, "%*s", (int)(width - n), "");
}

static void write_hot_line(const struct result *r, const struct line_result *l, unsigned width,
                           const bool chosen[NCOLUMNS], const struct report_style *s,
                           struct buf *out) {
    struct buf raw = {0}, clean = {0};
    bool is_student_line = l->line && !strcmp(l->file, r->file), hot = is_hot(r, l);
    if (is_student_line) report_source_line(&r->source, l->line, true, &raw);
    else if (l->line) buf_printf(&raw, "(%s)", l->file);
    else buf_puts(&raw, "(no source line)");
    text_clean(&clean, buf_str(&raw), raw.size, 400);
    text_replace(&clean, "\t", "    ");
    buf_printf(out, "%s%s%5u%s  %s", hot ? ">" : " ", report_style_escape(s, TEXT_STYLE_DIM),
               l->line, report_style_escape(s, TEXT_STYLE_NONE),
               hot ? report_style_escape(s, TEXT_STYLE_BOLD) : "");
    write_fitted(buf_str(&clean), width, out);
    buf_puts(out, hot ? report_style_escape(s, TEXT_STYLE_NONE) : "");
    if (has_times(r)) write_time_and_stall(r, l, s, out);
    write_chosen_values(r, l, chosen, s, out);
    buf_puts(out, "\n");
    buf_free(&raw), buf_free(&clean);
}

static void write_time_legend(const struct report_style *s, struct buf *out) {
    buf_printf(
        out,
        "%stime %%: share of the modelled time that warps spend at the line, with the top stall "
        "reason\n"
        "(warps stall where a value is first used, so a load's latency appears at that line)%s\n",
        report_style_escape(s, TEXT_STYLE_DIM), report_style_escape(s, TEXT_STYLE_NONE));
}

static void write_hottest(const struct result *r, const struct report_style *s, struct buf *out) {
    enum { LINE_PREFIX_WIDTH = 8, MIN_SOURCE_WIDTH = 28 };
    unsigned width = s->width > LINE_PREFIX_WIDTH + MIN_SOURCE_WIDTH + TIME_WIDTH + STALL_WIDTH
                         ? s->width
                         : 100,
             nchosen = 0;
    bool chosen[NCOLUMNS] = {false};
    unsigned time_width = has_times(r) ? TIME_WIDTH + STALL_WIDTH : 0,
             fixed_width = LINE_PREFIX_WIDTH + MIN_SOURCE_WIDTH + time_width;
    choose_columns(r, width > fixed_width ? (width - fixed_width) / COLUMN_WIDTH : 0, chosen);
    for (unsigned i = 0; i < NCOLUMNS; i++) nchosen += chosen[i];
    unsigned source_width = width - LINE_PREFIX_WIDTH - time_width - nchosen * COLUMN_WIDTH;
    for (unsigned row = 0; row < 2; row++) {
        buf_printf(out, "%s%6s  %-*s", report_style_escape(s, TEXT_STYLE_DIM), row ? "line" : "",
                   (int)source_width, row ? "hottest first" : "");
        if (time_width) write_time_heading(row, out);
        for (unsigned i = 0; i < NCOLUMNS; i++)
            if (chosen[i]) buf_printf(out, "%*s", COLUMN_WIDTH, columns[i].header[row]);
        buf_printf(out, "%s\n", report_style_escape(s, TEXT_STYLE_NONE));
    }
    const struct line_result *l = NULL;
    for (unsigned n = 0; n < MAX_HOT_LINES && (l = find_next_hottest(r, l)); n++)
        write_hot_line(r, l, source_width, chosen, s, out);
    buf_printf(out, "\n");
    if (time_width) write_time_legend(s, out);
    for (unsigned i = 0; i < NCOLUMNS; i++)
        if (chosen[i])
            buf_printf(out, "%s%s %s: %s%s\n", report_style_escape(s, TEXT_STYLE_DIM),
                       columns[i].header[0], columns[i].header[1], columns[i].description,
                       report_style_escape(s, TEXT_STYLE_NONE));
    buf_printf(out, "%s%s profile %s --all shows every line and every column%s\n",
               report_style_escape(s, TEXT_STYLE_DIM), paths_command("grader"), r->ex->name,
               report_style_escape(s, TEXT_STYLE_NONE));
}

/* ---- all lines ---- */

static const struct line_result *find_line(const struct result *r, unsigned line) {
    for (unsigned i = 0; i < r->nlines; i++)
        if (r->lines[i].line == line && !strcmp(r->lines[i].file, r->file)) return &r->lines[i];
    return NULL;
}

static void write_source(const struct result *r, const struct report_style *s, struct buf *out) {
    unsigned total = 1;
    for (size_t i = 0; i + 1 < r->source.size && total < MAX_LINES; i++)
        total += r->source.data[i] == '\n';
    for (unsigned n = 1; n <= total; n++) {
        const struct line_result *l = find_line(r, n);
        bool hot = l && is_hot(r, l);
        struct buf raw = {0}, clean = {0};
        report_source_line(&r->source, n, false, &raw);
        text_clean(&clean, buf_str(&raw), raw.size, 400);
        text_replace(&clean, "\t", "    ");
        write_values(r, l, s, out);
        buf_printf(out, " %s%s%5u%s %s%s%s\n", hot ? ">" : " ",
                   report_style_escape(s, TEXT_STYLE_DIM), n,
                   report_style_escape(s, TEXT_STYLE_NONE),
                   hot ? report_style_escape(s, TEXT_STYLE_BOLD) : "", buf_str(&clean),
                   hot ? report_style_escape(s, TEXT_STYLE_NONE) : "");
        buf_free(&raw), buf_free(&clean);
    }
}

/* Writes lines of inlined headers, and counts that have no source line. */
static void write_other_lines(const struct result *r, const struct report_style *s,
                              struct buf *out) {
    for (unsigned i = 0; i < r->nlines; i++) {
        const struct line_result *l = &r->lines[i];
        if (l->line && !strcmp(l->file, r->file)) continue;
        write_values(r, l, s, out);
        if (l->line) buf_printf(out, "  %s:%u\n", l->file, l->line);
        else buf_puts(out, "  (no source line)\n");
    }
}

/* Writes share of time, launches, registers, occupancy with its limiter, spills and bottleneck. */
static void write_kernel(const struct kernel_time *k, double total_us, bool several,
                         struct buf *out) {
    buf_printf(out, "%s: ", k->name);
    if (several) buf_printf(out, "%.0f %% of the time, ", 100 * k->us / total_us);
    if (k->launches > 1) buf_printf(out, "%u launches, ", k->launches);
    page_time(k->us, out);
    buf_printf(out, "; %u registers, occupancy %.0f %%", k->registers, 100 * k->occupancy);
    if (k->occupancy_limiter[0]) buf_printf(out, " (%s)", k->occupancy_limiter);
    if (k->spill_bytes) buf_printf(out, ", %u bytes of spills", k->spill_bytes);
    if (k->bound_by[0] && several)
        buf_printf(out, "; %.*s", (int)strcspn(k->bound_by, "%"), k->bound_by), buf_puts(out, "%");
    buf_puts(out, "\n");
}

static void write_kernels(const struct result *r, const struct report_style *s, struct buf *out) {
    double total_us = 0;
    struct buf text = {0};
    for (unsigned i = 0; i < r->nkernel_times; i++) total_us += r->kernel_times[i].us;
    for (unsigned i = 0; i < r->nkernel_times && total_us > 0; i++)
        write_kernel(&r->kernel_times[i], total_us, r->nkernel_times > 1, &text);
    report_wrap(buf_str(&text), 0, s, out);
    buf_free(&text);
    for (unsigned i = 0; i < r->nkernels && !(total_us > 0); i++) {
        buf_printf(out, "%s: %u registers per thread", r->kernels[i].name, r->kernels[i].registers);
        if (r->kernels[i].spill_bytes)
            buf_printf(out, ", %u bytes of spills", r->kernels[i].spill_bytes);
        buf_puts(out, " (ptxas)\n");
    }
}

static void write_totals(const struct result *r, const struct report_style *s, struct buf *out) {
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
    write_kernels(r, s, out);
}

void report_profile(const struct result *r, const struct gpu_device *d,
                    const struct report_style *s, bool show_all, struct buf *out) {
    struct buf size = {0};
    for (unsigned i = 0; i < r->ncases; i++)
        if (text_ends_with(r->cases[i].name, " (counted)"))
            buf_add(&size, r->cases[i].name, strlen(r->cases[i].name) - 10);
    buf_printf(out, "%s%s%s  %s, counted at %s\n", report_style_escape(s, TEXT_STYLE_BOLD), r->id,
               report_style_escape(s, TEXT_STYLE_NONE), r->file, buf_str(&size));
    buf_free(&size);
    write_totals(r, s, out);
    if (r->speed.valid) report_speed(r, d, s, out);
    buf_puts(out, "\n");
    if (!show_all) {
        write_hottest(r, s, out);
        return;
    }
    write_heading(r, s, out);
    write_source(r, s, out);
    write_other_lines(r, s, out);
    buf_puts(out, "\n");
    if (has_times(r)) write_time_legend(s, out);
    for (unsigned i = 0; i < NCOLUMNS; i++)
        if (is_used(r, &columns[i]))
            buf_printf(out, "%s%s %s: %s%s\n", report_style_escape(s, TEXT_STYLE_DIM),
                       columns[i].header[0], columns[i].header[1], columns[i].description,
                       report_style_escape(s, TEXT_STYLE_NONE));
}

/* ---- JSON ---- */

static json_t *columns_json(const struct result *r) {
    json_t *list = json_array();
    for (unsigned i = 0; i < NCOLUMNS; i++)
        if (is_used(r, &columns[i]))
            json_array_append_new(list, json_pack("{s:s++, s:s}", "name", columns[i].header[0], " ",
                                                  columns[i].header[1], "description",
                                                  columns[i].description));
    return list;
}

static json_t *values_json(const struct result *r, const struct line_result *l) {
    json_t *list = json_array();
    for (unsigned i = 0; i < NCOLUMNS; i++) {
        if (!is_used(r, &columns[i])) continue;
        double v = column_value(r, l, &columns[i]);
        json_array_append_new(list, v < 0 ? json_null() : json_real(v));
    }
    return list;
}

static json_t *stalls_json(const struct line_result *l) {
    json_t *list = json_array();
    double total = total_stall_seconds(l);
    bool done[SIM_STALL_COUNT] = {false};
    for (unsigned n = 0; n < SIM_STALL_COUNT && total > 0; n++) {
        unsigned worst = SIM_STALL_COUNT;
        for (unsigned k = 0; k < SIM_STALL_COUNT; k++)
            if (!done[k] &&
                (worst == SIM_STALL_COUNT || l->stall_seconds[k] > l->stall_seconds[worst]))
                worst = k;
        done[worst] = true;
        if (l->stall_seconds[worst] > 0)
            json_array_append_new(list,
                                  json_pack("{s:s, s:f}", "reason", sim_stall_text(worst),
                                            "percent", 100 * l->stall_seconds[worst] / total));
    }
    return list;
}

struct json_t *report_profile_json(const struct result *r) {
    json_t *o = json_object(), *lines = json_array();
    for (unsigned i = 0; i < r->nlines; i++) {
        const struct line_result *l = &r->lines[i];
        if (!l->line || strcmp(l->file, r->file) != 0) continue;
        json_array_append_new(lines,
                              json_pack("{s:i, s:f, s:o, s:o, s:b}", "line", (int)l->line,
                                        "time_percent", time_share(r, l), "stalls", stalls_json(l),
                                        "values", values_json(r, l), "hot", is_hot(r, l)));
    }
    json_object_set_new(o, "columns", columns_json(r));
    json_object_set_new(o, "lines", lines);
    return o;
}
