/* tune_page.c — the results of `grader tune`: the best row of each device, the counters that it
 * changes, and a page with curves. */
#include "grader/cli/tune.h"
#include "grader/page/page.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const struct tune_row *tune_row_at(const struct tune_page *p, unsigned device,
                                   unsigned combination) {
    return &p->rows[device * p->space->ncombinations + combination];
}

const struct tune_row *tune_best(const struct tune_page *p, unsigned device) {
    const struct tune_row *best = NULL;
    for (unsigned i = 0; i < p->space->ncombinations; i++) {
        const struct tune_row *r = tune_row_at(p, device, i);
        if (r->done && r->us > 0 && (!best || r->us < best->us)) best = r;
    }
    return best;
}

/* ---- counters ---- */

static double log_ratio(const struct tune_row *from, const struct tune_row *to, unsigned i) {
    double a = (double)sim_counter_get(&from->counters, i),
           b = (double)sim_counter_get(&to->counters, i);
    return a == b ? 0 : fabs(log((b + 1) / (a + 1)));
}

void tune_put_changes(const struct tune_row *from, const struct tune_row *to, unsigned max_lines,
                      struct buf *out) {
    unsigned n = sim_counter_count();
    bool *is_reported = xcalloc(n, sizeof *is_reported);
    for (unsigned k = 0; k < max_lines; k++) {
        unsigned best = n;
        for (unsigned i = 0; i < n; i++)
            if (!is_reported[i] && log_ratio(from, to, i) >= log(1.1) &&
                (best == n || log_ratio(from, to, i) > log_ratio(from, to, best)))
                best = i;
        if (best == n) break;
        is_reported[best] = true;
        buf_printf(out, "  %-28s ", sim_counter_name(best));
        page_number((double)sim_counter_get(&from->counters, best), out), buf_puts(out, " -> ");
        page_number((double)sim_counter_get(&to->counters, best), out), buf_puts(out, "\n");
    }
    free(is_reported);
}

/* ---- the page ---- */

/* Writes only the values, "16/128"; the caption names the parameters. */
static void short_label(const struct tune_space *s, unsigned c, char out[TUNE_MAX_LABEL]) {
    size_t n = 0;
    for (unsigned i = 0; i < s->n && n < TUNE_MAX_LABEL; i++)
        n += (size_t)snprintf(out + n, TUNE_MAX_LABEL - n, "%s%ld", i ? "/" : "",
                              s->combinations[c][i]);
}

static void put_curves(const struct tune_page *p, struct buf *out) {
    unsigned n = p->space->ncombinations;
    char(*text)[TUNE_MAX_LABEL] = xcalloc(n, sizeof *text);
    const char **names = xcalloc(n, sizeof *names);
    double *us = xcalloc((size_t)n * p->ndevices, sizeof *us);
    struct page_series *series = xcalloc(p->ndevices, sizeof *series);
    for (unsigned i = 0; i < n; i++) short_label(p->space, i, text[i]), names[i] = text[i];
    for (unsigned d = 0; d < p->ndevices; d++) {
        series[d] = (struct page_series){p->devices[d], &us[(size_t)d * n], 0};
        const struct tune_row *best = tune_best(p, d);
        for (unsigned i = 0; i < n; i++) {
            double v = tune_row_at(p, d, i)->us;
            us[(size_t)d * n + i] = !(v > 0) ? NAN : p->ndevices > 1 ? v / best->us : v;
        }
    }
    buf_puts(out, "<figure>");
    page_line_chart("Time over the parameters",
                    p->ndevices > 1 ? "relative to the device's best" : "µs", names, n, series,
                    p->ndevices, true, out);
    buf_puts(out, "<figcaption>");
    for (unsigned i = 0; i < p->space->n; i++)
        buf_puts(out, i ? " / " : ""), html_escape_text(p->space->parameters[i].name, out);
    buf_puts(out, "; a gap is a combination that is incorrect or has no time.</figcaption>"
                  "</figure>\n");
    free(text), free(names), free(us), free(series);
}

static int by_time(const void *a, const void *b) {
    const struct tune_row *x = *(const struct tune_row *const *)a,
                          *y = *(const struct tune_row *const *)b;
    double u = x->us > 0 ? x->us : INFINITY, v = y->us > 0 ? y->us : INFINITY;
    return u != v ? (u > v) - (u < v) : x->combination < y->combination ? -1 : 1;
}

static void put_device_rows(const struct tune_page *p, unsigned d, struct buf *out) {
    unsigned n = p->space->ncombinations;
    const struct tune_row **rows = xcalloc(n, sizeof *rows), *best = tune_best(p, d);
    for (unsigned i = 0; i < n; i++) rows[i] = tune_row_at(p, d, i);
    qsort(rows, n, sizeof *rows, by_time);
    page_element("h2", "", p->devices[d], out);
    buf_puts(out, "<div class=\"scroll\" tabindex=\"0\"><table><tr>");
    for (unsigned i = 0; i < p->space->n; i++)
        page_element("th", "n", p->space->parameters[i].name, out);
    buf_puts(out, "<th></th><th class=\"n\">time</th><th class=\"n\">vs best</th><th></th></tr>\n");
    for (unsigned i = 0; i < n; i++) {
        buf_puts(out, "<tr>");
        for (unsigned k = 0; k < p->space->n; k++)
            buf_printf(out, "<td class=\"n\">%ld</td>",
                       p->space->combinations[rows[i]->combination][k]);
        page_element("td", "", rows[i]->done ? rows[i]->verdict : "not run", out);
        buf_puts(out, "<td class=\"n\">");
        if (rows[i]->us > 0) page_time(rows[i]->us, out);
        buf_puts(out, "</td><td class=\"n\">");
        if (rows[i]->us > 0 && best) buf_printf(out, "%.2f", rows[i]->us / best->us);
        buf_puts(out, "</td><td>");
        html_escape_text(rows[i] == best ? "best" : "", out);
        html_escape_text(rows[i]->combination == p->space->current
                             ? (rows[i] == best ? ", current" : "current")
                             : "",
                         out);
        buf_puts(out, "</td></tr>\n");
    }
    buf_puts(out, "</table></div>\n");
    free(rows);
}

static void put_changes(const struct tune_page *p, unsigned d, struct buf *out) {
    const struct tune_row *best = tune_best(p, d);
    struct buf text = {0};
    if (!best || p->space->current == p->space->ncombinations) return;
    const struct tune_row *current = tune_row_at(p, d, p->space->current);
    if (best == current || !current->done || !(current->us > 0)) return;
    tune_put_changes(current, best, 12, &text);
    if (text.size) buf_puts(out, "<p>Counters of your current values and of the best ones:</p>\n");
    if (text.size) page_element("pre", "", buf_str(&text), out);
    buf_free(&text);
}

void tune_write_page(const struct tune_page *p, struct buf *out) {
    page_open(p->id, NULL, out);
    buf_puts(out, "<h1>"), html_escape_text(p->id, out),
        buf_puts(out, ": parameters</h1>\n<p class=\"dim\">");
    html_escape_text(p->file, out);
    buf_printf(out, ", %u combinations</p>\n", p->space->ncombinations);
    put_curves(p, out);
    for (unsigned d = 0; d < p->ndevices; d++) put_device_rows(p, d, out), put_changes(p, d, out);
    page_close(NULL, out);
}
