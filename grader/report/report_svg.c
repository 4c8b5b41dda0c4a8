/* report_svg.c — see report_svg.h. */
#include "grader/report/report_svg.h"

#include <string.h>

void report_escape(const char *s, size_t n, struct buf *out) {
    for (size_t i = 0; i < n; i++) {
        unsigned char c = (unsigned char)s[i];
        switch (c) {
        case '&': buf_puts(out, "&amp;"); break;
        case '<': buf_puts(out, "&lt;"); break;
        case '>': buf_puts(out, "&gt;"); break;
        case '"': buf_puts(out, "&quot;"); break;
        case '\'': buf_puts(out, "&#39;"); break;
        default:
            if ((c < ' ' && c != '\n' && c != '\t') || c == 0x7f) buf_puts(out, "\xef\xbf\xbd");
            else buf_add(out, s + i, 1);
        }
    }
}

void report_svg_open(double width, double height, const char *title, struct buf *out) {
    buf_printf(out, "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %g %g\" role=\"img\"><title>", width,
               height);
    report_escape(title, strlen(title), out);
    buf_puts(out, "</title>\n");
}

void report_svg_line(double x1, double y1, double x2, double y2, const char *look, struct buf *out) {
    buf_printf(out, "<line class=\"%s\" x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\"/>\n", look, x1, y1, x2, y2);
}

void report_svg_bar(double x, double y, double width, double height, const char *look, struct buf *out) {
    buf_printf(out, "<rect class=\"%s\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\"/>\n", look, x, y,
               width > 0 ? width : 0, height);
}

void report_svg_dot(double x, double y, const char *look, struct buf *out) {
    buf_printf(out, "<circle class=\"%s\" cx=\"%.1f\" cy=\"%.1f\" r=\"5\"/>\n", look, x, y);
}

void report_svg_text(double x, double y, const char *anchor, const char *text, struct buf *out) {
    buf_printf(out, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">", x, y, anchor);
    report_escape(text, strlen(text), out);
    buf_puts(out, "</text>\n");
}

void report_svg_close(struct buf *out) { buf_puts(out, "</svg>\n"); }
