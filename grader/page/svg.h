/* svg.h — pictures as SVG inside a page: lines, bars, dots, words. Positions are in units of the
 * picture's own view box, from its upper left corner. Looks are classes of the page's style, and
 * all text is escaped. */
#pragma once
#include "common/buf.h"

/* Text as it may stand in HTML, in attributes, too; what XML has no place for becomes U+FFFD.
 * Appended. */
void html_escape(const char *s, size_t n, struct buf *out);

/* `title` is what a reader who sees no picture gets. */
void page_svg_open(double width, double height, const char *title, struct buf *out);
/* The same for a file of its own, with its style and a ground, light or dark. */
void page_svg_open_file(double width, double height, const char *title, struct buf *out);
void page_svg_line(double x1, double y1, double x2, double y2, const char *css_class,
                   struct buf *out);
void page_svg_bar(double x, double y, double width, double height, const char *css_class,
                  struct buf *out);
/* The same, with so much of its colour, 0 to 1. */
void page_svg_translucent_bar(double x, double y, double width, double height,
                              const char *css_class, double opacity, struct buf *out);
void page_svg_dot(double x, double y, const char *css_class, struct buf *out);
/* `anchor`: start, middle or end. */
void page_svg_small_text(double x, double y, const char *anchor, const char *text, struct buf *out);
/* Through n points, x and y in turn. */
void page_svg_polyline(const double *xy, unsigned n, const char *css_class, struct buf *out);
void page_svg_text(double x, double y, const char *anchor, const char *text, struct buf *out);
void page_svg_code(double x, double y, const char *text, struct buf *out);
void page_svg_close(struct buf *out);
