/* svg.c — see svg.h. */
#include "grader/page/svg.h"
#include "grader/page/style.h"

#include <string.h>

void html_escape(const char *s, size_t n, struct buf *out) {
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

void page_svg_open(double width, double height, const char *title, struct buf *out) {
    buf_printf(out, "<svg viewBox=\"0 0 %g %g\" role=\"img\"><title>", width, height);
    html_escape(title, strlen(title), out);
    buf_puts(out, "</title>\n");
}

/* Its size in px is 1.5 times its units, so that text is as large as the text around it. */
void page_svg_open_file(double width, double height, const char *title, struct buf *out) {
    buf_printf(out,
               "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %g %g\" width=\"%g\" "
               "height=\"%g\" "
               "role=\"img\"><style>%s</style><title>",
               width, height, 1.5 * width, 1.5 * height, STYLE_COLOURS STYLE_SVG);
    html_escape(title, strlen(title), out);
    buf_puts(out, "</title>\n");
    page_svg_bar(0, 0, width, height, "paper", out);
}

void page_svg_line(double x1, double y1, double x2, double y2, const char *css_class,
                   struct buf *out) {
    buf_printf(out, "<line class=\"%s\" x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\"/>\n",
               css_class, x1, y1, x2, y2);
}

void page_svg_bar(double x, double y, double width, double height, const char *css_class,
                  struct buf *out) {
    buf_printf(out, "<rect class=\"%s\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\"/>\n",
               css_class, x, y, width > 0 ? width : 0, height);
}

void page_svg_dot(double x, double y, const char *css_class, struct buf *out) {
    buf_printf(out, "<circle class=\"%s\" cx=\"%.1f\" cy=\"%.1f\" r=\"5\"/>\n", css_class, x, y);
}

void page_svg_translucent_bar(double x, double y, double width, double height,
                              const char *css_class, double opacity, struct buf *out) {
    buf_printf(out,
               "<rect class=\"%s\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" "
               "fill-opacity=\"%.2f\"/>\n",
               css_class, x, y, width, height, opacity);
}

void page_svg_polyline(const double *xy, unsigned n, const char *css_class, struct buf *out) {
    buf_printf(out, "<polyline class=\"%s\" points=\"", css_class);
    for (unsigned i = 0; i < n; i++)
        buf_printf(out, "%s%.1f,%.1f", i ? " " : "", xy[2 * i], xy[2 * i + 1]);
    buf_puts(out, "\"/>\n");
}

void page_svg_small_text(double x, double y, const char *anchor, const char *text,
                         struct buf *out) {
    buf_printf(out, "<text class=\"small\" x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">", x, y,
               anchor);
    html_escape(text, strlen(text), out);
    buf_puts(out, "</text>\n");
}

/* Keeps leading and repeated blanks. */
void page_svg_code(double x, double y, const char *text, struct buf *out) {
    buf_printf(out, "<text class=\"code\" x=\"%.1f\" y=\"%.1f\" xml:space=\"preserve\">", x, y);
    html_escape(text, strlen(text), out);
    buf_puts(out, "</text>\n");
}

void page_svg_text(double x, double y, const char *anchor, const char *text, struct buf *out) {
    buf_printf(out, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">", x, y, anchor);
    html_escape(text, strlen(text), out);
    buf_puts(out, "</text>\n");
}

void page_svg_close(struct buf *out) { buf_puts(out, "</svg>\n"); }
