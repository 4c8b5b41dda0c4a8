/* plots.c — draws stacked bars, the roofline and line charts; see page.h. */
#include "grader/page/page.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WIDTH = 360 };

/* ---- stacked bars ---- */

static void write_legend(const char *const names[PAGE_PARTS], const bool used[PAGE_PARTS],
                         struct buf *out) {
    buf_puts(out, "<p class=\"key\">");
    for (unsigned i = 0; i < PAGE_PARTS; i++) {
        if (!used[i] || !names[i]) continue;
        buf_printf(out,
                   "<span><svg viewBox=\"0 0 10 10\"><rect class=\"p%u\" width=\"10\" "
                   "height=\"10\"/></svg>",
                   i);
        html_escape_text(names[i], out);
        buf_puts(out, "</span>");
    }
    buf_puts(out, "</p>\n");
}

static void draw_stacked_bar(const struct page_bar *b, double longest, double y, struct buf *out) {
    double x = 4, bar_width = WIDTH - 8, total = 0;
    struct buf text = {0};
    for (unsigned i = 0; i < PAGE_PARTS; i++) total += b->parts[i];
    buf_puts(&text, b->name), buf_puts(&text, "  "), page_time(b->total, &text);
    page_svg_text(4, y + 10, "start", buf_str(&text), out);
    for (unsigned i = 0; i < PAGE_PARTS && total > 0; i++) {
        double width = bar_width * b->total / longest * b->parts[i] / total;
        char css_class[8];
        snprintf(css_class, sizeof css_class, "p%u", i);
        if (width > 0.05) page_svg_bar(x, y + 15, width, 14, css_class, out);
        x += width;
    }
    buf_free(&text);
}

void page_stacked_bars(const char *title, const struct page_bar *bars, unsigned n,
                       const char *const names[PAGE_PARTS], struct buf *out) {
    bool used[PAGE_PARTS] = {false};
    double longest = 0;
    for (unsigned i = 0; i < n; i++) {
        double total = 0;
        longest = fmax(longest, bars[i].total);
        for (unsigned k = 0; k < PAGE_PARTS; k++) total += bars[i].parts[k];
        for (unsigned k = 0; k < PAGE_PARTS; k++) used[k] |= bars[i].parts[k] > 0.005 * total;
    }
    if (!(longest > 0)) return;
    page_svg_open(WIDTH, 38.0 * n + 4, title, out);
    for (unsigned i = 0; i < n; i++) draw_stacked_bar(&bars[i], longest, 2 + 38.0 * i, out);
    page_svg_close(out);
    write_legend(names, used, out);
}

/* ---- the roofline ---- */

/* Both axes are logarithmic: operations per byte that the problem needs, and operations per second.
 */
struct axes {
    double x0, x1, y0, y1; /* decades */
};
enum { PLOT_LEFT = 46, PLOT_RIGHT = 350, PLOT_TOP = 20, PLOT_BOTTOM = 220 };
static double plot_x(const struct axes *a, double v) {
    return PLOT_LEFT + (PLOT_RIGHT - PLOT_LEFT) * (log10(v) - a->x0) / (a->x1 - a->x0);
}
static double plot_y(const struct axes *a, double v) {
    return PLOT_BOTTOM - (PLOT_BOTTOM - PLOT_TOP) * (log10(v) - a->y0) / (a->y1 - a->y0);
}

static void draw_grid(const struct axes *a, struct buf *out) {
    char text[64];
    for (double x = a->x0; x <= a->x1; x++) {
        page_svg_line(plot_x(a, pow(10, x)), PLOT_TOP, plot_x(a, pow(10, x)), PLOT_BOTTOM, "axis",
                      out);
        snprintf(text, sizeof text, "%g", pow(10, x));
        page_svg_text(plot_x(a, pow(10, x)), PLOT_BOTTOM + 14, x + 1 <= a->x1 ? "middle" : "end",
                      text, out); /* the last one would leave the picture */
    }
    for (double y = a->y0; y <= a->y1; y++) {
        struct buf b = {0};
        page_svg_line(PLOT_LEFT, plot_y(a, pow(10, y)), PLOT_RIGHT, plot_y(a, pow(10, y)), "axis",
                      out);
        page_number(pow(10, y), &b);
        page_svg_text(PLOT_LEFT - 4, plot_y(a, pow(10, y)) + 4, "end", buf_str(&b), out);
        buf_free(&b);
    }
    page_svg_text((PLOT_LEFT + PLOT_RIGHT) / 2, PLOT_BOTTOM + 29, "middle",
                  "operations per byte that the problem needs", out);
    page_svg_text(4, 11, "start", "operations per second", out);
}

struct label {
    double x, y, text_y; /* of the dot; of its text */
    const struct page_dot *dot;
};
static int compare_heights(const void *a, const void *b) {
    double x = ((const struct label *)a)->y, y = ((const struct label *)b)->y;
    return (x > y) - (x < y);
}

/* Leaves the dots without a name at the end. Returns the number of the others. */
static unsigned named_first(struct label *l, unsigned n) {
    unsigned named = 0;
    for (unsigned i = 0; i < n; i++)
        if (l[i].dot->name[0]) {
            struct label moved = l[i];
            l[i] = l[named], l[named++] = moved;
        }
    return named;
}

/* All versions have the same intensity, so their dots are above each other. Pushes the names next
 * to them apart, with a line from each dot to its name. Dots without a name come first, below. */
static void draw_dots(const struct axes *a, double intensity, double flops,
                      const struct page_dot *d, unsigned n, struct buf *out) {
    struct label *l = xcalloc(n + 1, sizeof *l);
    double x = plot_x(a, intensity), last_y = PLOT_TOP - 8;
    bool labels_left = x > (PLOT_LEFT + PLOT_RIGHT) / 2.0;
    for (unsigned i = 0; i < n; i++)
        l[i] = (struct label){x, plot_y(a, flops / (d[i].us * 1e-6)), 0, &d[i]};
    unsigned named = named_first(l, n);
    for (unsigned i = named; i < n; i++) page_svg_dot(x, l[i].y, l[i].dot->css_class, out);
    n = named;
    qsort(l, n, sizeof *l, compare_heights);
    for (unsigned i = 0; i < n; i++) last_y = l[i].text_y = fmax(l[i].y, last_y + 12);
    for (unsigned i = n; i-- > 0;) { /* those that were pushed off the plot push back */
        double max_y = i + 1 < n ? l[i + 1].text_y - 12 : PLOT_BOTTOM - 4;
        l[i].text_y = fmin(l[i].text_y, fmax(max_y, PLOT_TOP));
    }
    for (unsigned i = 0; i < n; i++) {
        double text_x = x + (labels_left ? -16 : 16);
        page_svg_line(x, l[i].y, text_x, l[i].text_y, "axis", out);
        page_svg_dot(x, l[i].y, l[i].dot->css_class, out);
        page_svg_text(text_x + (labels_left ? -3 : 3), l[i].text_y + 4,
                      labels_left ? "end" : "start", l[i].dot->name, out);
    }
    free(l);
}

void page_roofline(double bytes, double flops, double peak_bytes, double peak_flops,
                   const struct page_dot *d, unsigned n, struct buf *out) {
    double ridge = peak_flops / peak_bytes, intensity = flops / bytes, slowest = peak_flops;
    for (unsigned i = 0; i < n; i++) slowest = fmin(slowest, flops / (d[i].us * 1e-6));
    struct axes a = {floor(log10(fmin(intensity, ridge))) - 1,
                     ceil(log10(fmax(intensity, ridge))) + 1, floor(log10(slowest)),
                     ceil(log10(peak_flops))};
    double low = fmax(pow(10, a.x0), pow(10, a.y0) / peak_bytes);
    page_svg_open(WIDTH, 256, "Roofline of the device, with the versions of this problem", out);
    draw_grid(&a, out);
    page_svg_line(plot_x(&a, low), plot_y(&a, low * peak_bytes), plot_x(&a, ridge),
                  plot_y(&a, peak_flops), "roof", out);
    page_svg_line(plot_x(&a, ridge), plot_y(&a, peak_flops), plot_x(&a, pow(10, a.x1)),
                  plot_y(&a, peak_flops), "roof", out);
    draw_dots(&a, intensity, flops, d, n, out);
    page_svg_close(out);
}

/* ---- a timeline ---- */

enum { TIMELINE_LEFT = 56, TIMELINE_ROW = 18, TIMELINE_TOP = 4 };

static double timeline_x(double us, double end) {
    return TIMELINE_LEFT + (WIDTH - TIMELINE_LEFT - 8) * us / end;
}

static void draw_time_axis(double end, double bottom, struct buf *out) {
    for (unsigned i = 0; i <= 4; i++) {
        double x = timeline_x(end * i / 4, end);
        struct buf text = {0};
        page_time(end * i / 4, &text);
        page_svg_line(x, TIMELINE_TOP, x, bottom, "axis", out);
        page_svg_small_text(x, bottom + 10, i < 4 ? "middle" : "end", i ? buf_str(&text) : "0",
                            out);
        buf_free(&text);
    }
}

/* Returns the streams' numbers in ascending order, and how many; rows are their positions. */
static unsigned list_rows(const struct page_span *spans, unsigned n, unsigned rows[64]) {
    unsigned count = 0;
    for (unsigned stream = 0; stream < 64; stream++) {
        bool is_used = false;
        for (unsigned i = 0; i < n; i++) is_used |= spans[i].row == stream;
        if (is_used) rows[count++] = stream;
    }
    return count;
}

static void draw_timeline_row(const struct page_span *spans, unsigned n, unsigned stream, double y,
                              double end, struct buf *out) {
    char text[32];
    snprintf(text, sizeof text, "stream %u", stream);
    page_svg_small_text(TIMELINE_LEFT - 4, y + 11, "end", text, out);
    for (unsigned i = 0; i < n; i++) {
        char css_class[8];
        double x = timeline_x(spans[i].begin, end);
        if (spans[i].row != stream) continue;
        snprintf(css_class, sizeof css_class, "p%u", spans[i].part % PAGE_PARTS);
        page_svg_bar(x, y + 2, fmax(timeline_x(spans[i].end, end) - x - 0.3, 0.5), TIMELINE_ROW - 4,
                     css_class, out);
    }
}

void page_timeline(const char *title, const struct page_span *spans, unsigned n,
                   const char *const names[PAGE_PARTS], struct buf *out) {
    unsigned rows[64], nrows = list_rows(spans, n, rows);
    bool used[PAGE_PARTS] = {false};
    double end = 0, bottom = TIMELINE_TOP + nrows * TIMELINE_ROW;
    for (unsigned i = 0; i < n; i++)
        end = fmax(end, spans[i].end), used[spans[i].part % PAGE_PARTS] = true;
    if (!(end > 0)) return;
    page_svg_open(WIDTH, bottom + 14, title, out);
    draw_time_axis(end, bottom, out);
    for (unsigned k = 0; k < nrows; k++)
        draw_timeline_row(spans, n, rows[k], TIMELINE_TOP + k * TIMELINE_ROW, end, out);
    page_svg_close(out);
    write_legend(names, used, out);
}

/* ---- lines ---- */

struct scale {
    double low, high;
    bool logarithmic;
};

static double value_y(const struct scale *s, double v) {
    double part = s->logarithmic ? (log(v) - log(s->low)) / (log(s->high) - log(s->low))
                                 : (v - s->low) / (s->high - s->low);
    return PLOT_BOTTOM - (PLOT_BOTTOM - PLOT_TOP) * part;
}

static struct scale series_range(const struct page_series *s, unsigned nseries, unsigned n,
                                 bool logarithmic) {
    struct scale r = {INFINITY, 0, logarithmic};
    for (unsigned k = 0; k < nseries; k++) {
        r.high = fmax(r.high, s[k].top);
        for (unsigned i = 0; i < n; i++)
            if (isfinite(s[k].values[i]))
                r.low = fmin(r.low, s[k].values[i]), r.high = fmax(r.high, s[k].values[i]);
    }
    if (!logarithmic) r.low = 0;
    else r.low /= 1.1, r.high *= 1.1;
    if (!(r.high > r.low)) r.high = r.low + 1;
    return r;
}

static double column_x(unsigned i, unsigned n) {
    return PLOT_LEFT + 8 + (PLOT_RIGHT - PLOT_LEFT - 16) * (n > 1 ? (double)i / (n - 1) : 0.5);
}

static void draw_y_axis(const struct scale *r, const char *unit, struct buf *out) {
    for (unsigned i = 0; i <= 4; i++) {
        double v = r->logarithmic ? r->low * pow(r->high / r->low, i / 4.0) : r->high * i / 4.0;
        struct buf b = {0};
        page_svg_line(PLOT_LEFT, value_y(r, v), PLOT_RIGHT, value_y(r, v), "axis", out);
        buf_printf(&b, "%.3g", v);
        page_svg_text(PLOT_LEFT - 4, value_y(r, v) + 4, "end", buf_str(&b), out);
        buf_free(&b);
    }
    page_svg_text(4, 11, "start", unit, out);
}

static void draw_series(const struct page_series *s, unsigned n, const struct scale *r,
                        unsigned index, struct buf *out) {
    double *xy = xcalloc(2 * n + 2, sizeof *xy);
    unsigned k = 0;
    char css_class[32];
    snprintf(css_class, sizeof css_class, "curve s%u", index % 6);
    for (unsigned i = 0; i <= n; i++) {
        bool is_present = i < n && isfinite(s->values[i]);
        if (is_present) xy[2 * k] = column_x(i, n), xy[2 * k + 1] = value_y(r, s->values[i]), k++;
        else if (k) page_svg_polyline(xy, k, css_class, out), k = 0;
    }
    snprintf(css_class, sizeof css_class, "p%u", (unsigned[]){0, 2, 4, 8, 5, 10}[index % 6]);
    for (unsigned i = 0; i < n; i++)
        if (isfinite(s->values[i]))
            page_svg_bar(column_x(i, n) - 3, value_y(r, s->values[i]) - 3, 6, 6, css_class, out);
    free(xy);
}

/* Returns every how many columns there is room for a name below the axis. */
static unsigned label_distance(const char *const *names, unsigned n) {
    enum { CHARACTER_WIDTH = 5, GAP = 8, MAX_LABELS = 12 };
    size_t longest = 1;
    for (unsigned i = 0; i < n; i++)
        if (strlen(names[i]) > longest) longest = strlen(names[i]);
    size_t fitting = (PLOT_RIGHT - PLOT_LEFT) / (longest * CHARACTER_WIDTH + GAP);
    unsigned labels = fitting < 1 ? 1 : fitting > MAX_LABELS ? MAX_LABELS : (unsigned)fitting;
    return (n + labels - 1) / labels;
}

void page_line_chart(const char *title, const char *unit, const char *const *names, unsigned n,
                     const struct page_series *s, unsigned nseries, bool logarithmic,
                     struct buf *out) {
    static const unsigned palette[] = {0, 2, 4, 8, 5, 10};
    const char *legend[PAGE_PARTS] = {0};
    bool used[PAGE_PARTS] = {false};
    struct scale r = series_range(s, nseries, n, logarithmic);
    if (!n || !isfinite(r.low)) return;
    unsigned label_step = label_distance(names, n);
    page_svg_open(WIDTH, PLOT_BOTTOM + 22, title, out);
    draw_y_axis(&r, unit, out);
    for (unsigned i = 0; i < n; i += label_step) {
        bool is_at_edge = n > 1 && i + 1 == n; /* the picture would cut a centred name off */
        page_svg_small_text(column_x(i, n) + (is_at_edge ? 8 : 0), PLOT_BOTTOM + 12,
                            is_at_edge ? "end" : "middle", names[i], out);
    }
    for (unsigned k = 0; k < nseries; k++) {
        draw_series(&s[k], n, &r, k, out);
        legend[palette[k % 6]] = s[k].name, used[palette[k % 6]] = true;
    }
    page_svg_close(out);
    if (nseries > 1) write_legend(legend, used, out);
}
