/* svg.h — draws SVG: lines, bars, dots, text. Positions are in units of the picture's view box,
 * from its upper left corner. Styles are CSS classes of the page; all text is escaped. */
#pragma once
#include "common/buf.h"

/* Appends text escaped for HTML elements and attributes. Characters that XML forbids become U+FFFD.
 */
void html_escape(const char *s, size_t n, struct buf *out);

/* Begins a picture in a page. `title` is its text alternative. */
void page_svg_open(double width, double height, const char *title, struct buf *out);
/* Begins an SVG file, with style sheet and background, light or dark. */
void page_svg_open_file(double width, double height, const char *title, struct buf *out);
void page_svg_line(double x1, double y1, double x2, double y2, const char *css_class,
                   struct buf *out);
void page_svg_bar(double x, double y, double width, double height, const char *css_class,
                  struct buf *out);
/* The same with an opacity, 0 to 1. */
void page_svg_translucent_bar(double x, double y, double width, double height,
                              const char *css_class, double opacity, struct buf *out);
void page_svg_dot(double x, double y, const char *css_class, struct buf *out);
/* `anchor`: start, middle or end. */
void page_svg_small_text(double x, double y, const char *anchor, const char *text, struct buf *out);
/* Draws a line through n points, given as x0, y0, x1, y1 ... */
void page_svg_polyline(const double *xy, unsigned n, const char *css_class, struct buf *out);
void page_svg_text(double x, double y, const char *anchor, const char *text, struct buf *out);
void page_svg_code(double x, double y, const char *text, struct buf *out);
void page_svg_close(struct buf *out);
