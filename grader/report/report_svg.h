/* report_svg.h — pictures as SVG inside a page: lines, bars, dots, words. Positions are in units of the picture's own
 * view box, from its upper left corner. Looks are classes of the page's style, and all text is escaped. */
#pragma once
#include "common/buf.h"

/* Text as it may stand in HTML, in attributes, too; what XML has no place for becomes U+FFFD. Appended. */
void report_escape(const char *s, size_t n, struct buf *out);

/* `title` is what a reader who sees no picture gets. */
void report_svg_open(double width, double height, const char *title, struct buf *out);
void report_svg_line(double x1, double y1, double x2, double y2, const char *look, struct buf *out);
void report_svg_bar(double x, double y, double width, double height, const char *look, struct buf *out);
void report_svg_dot(double x, double y, const char *look, struct buf *out);
/* `anchor`: start, middle or end. */
void report_svg_text(double x, double y, const char *anchor, const char *text, struct buf *out);
void report_svg_close(struct buf *out);
