/* page.h — pages that stand alone: one style for all of them, no request to anywhere, which their
 * content security policy holds a browser to. Text of others goes through html_escape. */
#pragma once
#include "grader/page/svg.h"
#include "grader/sim/sim.h"

#include <stdbool.h>

/* From the doctype to the body's beginning. `script`: NULL, or the one script that the page may
 * run, which page_close puts there. */
void page_open(const char *title, const char *script, struct buf *out);
void page_close(const char *script, struct buf *out);

void html_escape_text(const char *s, struct buf *out); /* escaped */
/* <name class="look">text</name>; look may be "". */
void page_element(const char *name, const char *css_class, const char *text, struct buf *out);
/* 12.5, 126 976, 1.05 M: appended. */
void page_number(double v, struct buf *out);
void page_time(double us, struct buf *out); /* "12.3 µs", "4.5 ms" */
void page_cell(double v, struct buf *out);  /* a table's cell with that number */

/* ---- pictures ---- */

/* A warp's 32 lanes and the 32-byte sectors that they touch. */
void page_map_sectors(const struct sim_access *a, struct buf *out);
/* The 32 banks and the passes that the lanes' words need. */
void page_map_banks(const struct sim_access *a, struct buf *out);
/* Accesses below each other, each under its source line: a file of its own (SVG). The access says
 * whether its memory is shared. */
struct page_panel {
    const struct sim_access *access;
    const char *name, *line; /* of the kernel; of the source */
};
void page_picture(const struct page_panel *panels, unsigned n, struct buf *out);
/* Sectors that as many bytes need at least; distinct bytes asked for. */
unsigned page_ideal_sectors(const struct sim_access *a, unsigned *bytes);

/* Bars of several parts each. Part i has the look "p0" to "p12". */
enum { PAGE_PARTS = 13 };
struct page_bar {
    const char *name;
    double total; /* what the bar is as long as, and is said behind it, in us */
    double parts[PAGE_PARTS];
};
void page_stacked_bars(const char *title, const struct page_bar *bars, unsigned n,
                       const char *const names[PAGE_PARTS], struct buf *out);

struct page_dot {
    const char *name, *css_class; /* naive, yours, step, answer */
    double us;
};
/* The device's roof, and versions of a problem of so many bytes and operations on it. */
void page_roofline(double bytes, double flops, double peak_bytes, double peak_flops,
                   const struct page_dot *dots, unsigned n, struct buf *out);

/* Values over names in a row; one line for each series. NAN: none there. */
struct page_series {
    const char *name;
    const double *values;
};
void page_line_chart(const char *title, const char *unit, const char *const *names, unsigned n,
                     const struct page_series *series, unsigned nseries, bool logarithmic,
                     struct buf *out);
