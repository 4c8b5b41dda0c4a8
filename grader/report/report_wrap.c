/* report_wrap.c — lays out text for a terminal: wraps it at blanks, indents it, rewraps paragraphs
 * of Markdown. */
#include "common/text.h"
#include "grader/report/report.h"

#include <string.h>

/* Returns the width in columns: the number of characters, without colour sequences. */
static unsigned display_width(const char *s, size_t n) {
    unsigned width = 0;
    for (size_t i = 0; i < n; i++) {
        if (s[i] == '\033')
            while (i + 1 < n && s[i] != 'm') i++;
        else width += ((unsigned char)s[i] & 0xc0) != 0x80;
    }
    return width;
}

/* Wraps at blanks; every line starts with `indent` blanks. */
void report_wrap(const char *text, unsigned indent, const struct report_style *style,
                 struct buf *out) {
    unsigned width = style->width > indent + 30 ? style->width : 1u << 30;
    if (width > 110 && width < 1u << 30) width = 110;
    while (*text) {
        size_t line = strcspn(text, "\n");
        unsigned column = indent;
        buf_printf(out, "%*s", (int)indent, "");
        size_t blanks = 0; /* before the word; dropped at the beginning and the end of a line */
        for (const char *p = text, *end = text + line; p < end;) {
            size_t word = strcspn(p, " \n");
            unsigned w = display_width(p, word);
            if (column > indent && column + blanks + w > width) {
                buf_printf(out, "\n%*s", (int)indent, "");
                column = indent, blanks = 0;
            }
            if (word) buf_printf(out, "%*s", (int)blanks, "");
            buf_add(out, p, word);
            column += (word ? (unsigned)blanks : 0) + w;
            blanks = strspn(p + word, " ") + (word ? 0 : blanks);
            p += word + strspn(p + word, " ");
        }
        buf_puts(out, "\n");
        text += line + (text[line] == '\n');
    }
}

/* See report.h: wraps with indentation, then removes it from the first line. */
void report_wrap_hanging(const char *text, unsigned indent, const struct report_style *style,
                         struct buf *out) {
    size_t at = out->size;
    report_wrap(text, indent, style, out);
    if (out->size < at + indent) return;
    memmove(out->data + at, out->data + at + indent, out->size - at - indent + 1);
    out->size -= indent;
}

/* See report.h. Used for tables of wrong elements and for compiler messages. */
void report_indent(const char *text, unsigned indent, struct buf *out) {
    while (*text) {
        size_t n = strcspn(text, "\n");
        if (n) buf_printf(out, "%*s%.*s", (int)indent, "", (int)n, text);
        buf_puts(out, "\n");
        text += n + (text[n] == '\n');
    }
}

/* Returns true for a line that starts a new one: code, a list item, a table row, a heading, a
 * formula. */
static bool is_standalone_line(const char *line) {
    return !strncmp(line, "    ", 4) || !strncmp(line, "```", 3) || strchr("|#>\n", *line) ||
           (strchr("-*", *line) && line[1] == ' ') ||
           (*line >= '0' && *line <= '9' && line[strspn(line, "0123456789")] == '.');
}

void report_markdown(const char *text, const struct report_style *style, struct buf *out) {
    struct buf paragraph = {0};
    bool in_code = false;
    for (const char *line = text; *line;) {
        size_t n = strcspn(line, "\n");
        bool is_fence = !strncmp(line, "```", 3),
             is_standalone = in_code || is_fence || !n || is_standalone_line(line);
        if (is_standalone && paragraph.size)
            report_wrap(buf_str(&paragraph), 0, style, out), buf_clear(&paragraph);
        bool is_verbatim = in_code || is_fence || !n || !strncmp(line, "    ", 4) || *line == '|';
        if (is_verbatim) buf_printf(out, "%.*s\n", (int)n, line);
        else buf_printf(&paragraph, "%s%.*s", paragraph.size ? " " : "", (int)n, line);
        in_code ^= is_fence;
        line += n + (line[n] == '\n');
    }
    if (paragraph.size) report_wrap(buf_str(&paragraph), 0, style, out);
    buf_free(&paragraph);
}

static unsigned wrapped_row_count(const char *line, size_t n, unsigned columns) {
    unsigned width = display_width(line, n);
    return width && columns ? (width + columns - 1) / columns : 1;
}

unsigned report_fit_rows(const char *text, unsigned rows, const struct report_style *style,
                         struct buf *out) {
    unsigned used = 0, left_out = 0;
    for (; *text; text += strcspn(text, "\n") + (text[strcspn(text, "\n")] == '\n')) {
        size_t n = strcspn(text, "\n");
        if (!left_out) used += wrapped_row_count(text, n, style->width);
        if (left_out || used > rows) left_out++;
        else buf_printf(out, "%.*s\n", (int)n, text);
    }
    return left_out;
}

void report_quote_line(const struct result *r, const char *file, unsigned line, unsigned indent,
                       const struct report_style *s, struct buf *out) {
    buf_printf(out, "%*s%s:%u:\n", (int)indent, "", file, line);
    if (strcmp(file, r->file) != 0) return;
    struct buf raw = {0}, clean = {0};
    report_source_line(&r->source, line, true, &raw);
    text_clean(&clean, buf_str(&raw), raw.size, 300);
    buf_printf(out, "%*s%s|%s ", (int)indent, "", report_style_escape(s, TEXT_STYLE_DIM),
               report_style_escape(s, TEXT_STYLE_NONE));
    report_wrap_hanging(clean.size ? buf_str(&clean) : "\n", indent + 2, s, out);
    buf_free(&raw), buf_free(&clean);
}

void report_pad(const char *text, unsigned columns, struct buf *out) {
    unsigned width = display_width(text, strlen(text));
    buf_printf(out, "%s%*s", text, (int)(width < columns ? columns - width : 1), "");
}
