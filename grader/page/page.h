/* page.h — writes self-contained HTML pages: one style for all, and no external requests, which a
 * content security policy enforces. html_escape() escapes all foreign text. */
#pragma once
#include "grader/page/svg.h"
#include "grader/sim/sim.h"

#include <stdbool.h>

/* Writes everything from the doctype to the beginning of the body. `script` is NULL or the only
 * script that the page may run; page_close() inserts it. */
void page_open(const char *title, const char *script, struct buf *out);
void page_close(const char *script, struct buf *out);
const char *page_style_sheet(void); /* of all pages */

void html_escape_text(const char *s, struct buf *out); /* html_escape() of a string */
/* Writes <name class="css_class">text</name>; css_class may be "". */
void page_element(const char *name, const char *css_class, const char *text, struct buf *out);
/* Writes 12.5, 126 976 or 1.05 M. */
void page_number(double v, struct buf *out);
void page_time(double us, struct buf *out); /* "12.3 µs", "4.5 ms" */
void page_cell(double v, struct buf *out);  /* a table cell with a number */

/* ---- pictures ---- */

/* Draws a warp's 32 lanes and the 32-byte sectors that they touch. */
void page_map_sectors(const struct sim_access *a, struct buf *out);
/* Draws the 32 banks and the wavefronts that the lanes' words need. */
void page_map_banks(const struct sim_access *a, struct buf *out);
/* One access of page_picture(), with the name of the kernel and its source line. */
struct page_panel {
    const struct sim_access *access;
    const char *name, *line; /* of the kernel; text of the source line */
};
/* Draws accesses below each other, each under its source line, as an SVG file. */
void page_picture(const struct page_panel *panels, unsigned n, struct buf *out);
/* Returns the packed ideal in sectors; sets the number of distinct bytes requested. */
unsigned page_ideal_sectors(const struct sim_access *a, unsigned *bytes);

/* A bar of stacked parts. Part i has the CSS class "p0" to "p12". */
enum { PAGE_PARTS = 13 };
struct page_bar {
    const char *name;
    double total; /* in us: the length of the bar, also its label */
    double parts[PAGE_PARTS];
};
/* Appends a bar chart whose bars are stacked from PAGE_PARTS parts. */
void page_stacked_bars(const char *title, const struct page_bar *bars, unsigned n,
                       const char *const names[PAGE_PARTS], struct buf *out);

/* A bar in row `row` (its stream) of page_timeline(), with the CSS class "p0" to "p12". */
struct page_span {
    double begin, end; /* us */
    unsigned row, part;
};
/* Draws rows of bars against a time axis. `names`: of the parts, by their class; NULL = none. */
void page_timeline(const char *title, const struct page_span *spans, unsigned n,
                   const char *const names[PAGE_PARTS], struct buf *out);

struct page_dot {
    const char *name, *css_class; /* name: may be ""; class: naive, yours, step, solution */
    double us;
};
/* Draws the device's roofline, and versions of a problem with these bytes and operations. */
void page_roofline(double bytes, double flops, double peak_bytes, double peak_flops,
                   const struct page_dot *dots, unsigned n, struct buf *out);

/* One line of page_line_chart(): a value for each name; NAN = no value. */
struct page_series {
    const char *name;
    const double *values;
    double top; /* the axis reaches at least this value; 0 = the largest one */
};
/* Appends a chart with a line for each series. */
void page_line_chart(const char *title, const char *unit, const char *const *names, unsigned n,
                     const struct page_series *series, unsigned nseries, bool logarithmic,
                     struct buf *out);
