/* quiz_html.c — converts the Markdown of questions to HTML for the exports (quiz_export.h): code
 * blocks, paragraphs, code spans, bold and emphasis, which is all that questions use. The grader
 * itself has no Markdown library; only makesite links one. */
#include "grader/cli/quiz_export.h"
#include "grader/page/page.h"

#include <math.h>
#include <string.h>

/* Returns the length of the span that `mark` begins at `at`, up to the closing mark; 0 = no span.
 */
static size_t span_length(const char *at, const char *end, const char *mark) {
    size_t n = strlen(mark);
    if ((size_t)(end - at) < 2 * n + 1 || strncmp(at, mark, n) || at[n] == ' ') return 0;
    const char *close = memmem(at + n, (size_t)(end - at) - n, mark, n);
    return close && close > at + n && close[-1] != ' ' ? (size_t)(close - at) - n : 0;
}

static void put_inline(const char *at, const char *end, struct buf *out) {
    static const char *const spans[][2] = {{"`", "code"}, {"**", "strong"}, {"*", "em"}};
    while (at < end) {
        size_t length = 0;
        for (unsigned i = 0; i < 3 && !length; i++) {
            if (!(length = span_length(at, end, spans[i][0]))) continue;
            size_t mark = strlen(spans[i][0]);
            buf_printf(out, "<%s>", spans[i][1]);
            if (i == 0) html_escape(at + mark, length, out);
            else put_inline(at + mark, at + mark + length, out);
            buf_printf(out, "</%s>", spans[i][1]);
            at += length + 2 * mark;
        }
        if (!length) html_escape(at++, 1, out);
    }
}

/* Appends a block of code without its indentation of four blanks. */
static void put_code(const char *at, const char *end, struct buf *out) {
    buf_puts(out, "<pre>");
    while (at < end) {
        const char *stop = memchr(at, '\n', (size_t)(end - at)), *next = stop ? stop + 1 : end;
        if (next - at >= 4 && !strncmp(at, "    ", 4)) at += 4;
        html_escape(at, (size_t)(next - at), out);
        at = next;
    }
    buf_puts(out, "</pre>");
}

/* Returns the end of the block at `at`: the next empty line. Blocks of code extend over empty
 * lines. */
static const char *block_end(const char *at, const char *end) {
    bool is_code = end - at > 4 && !strncmp(at, "    ", 4);
    for (const char *p = at; (p = memmem(p, (size_t)(end - p), "\n\n", 2)); p++)
        if (!is_code || end - p < 6 || strncmp(p + 2, "    ", 4)) return p;
    return end;
}

void quiz_html(const char *markdown, size_t size, struct buf *out) {
    const char *at = markdown, *end = markdown + size;
    while (at < end) {
        if (*at == '\n') {
            at++;
            continue;
        }
        const char *stop = block_end(at, end);
        if (stop - at > 4 && !strncmp(at, "    ", 4)) put_code(at, stop, out);
        else buf_puts(out, "<p>"), put_inline(at, stop, out), buf_puts(out, "</p>");
        at = stop;
    }
}

double quiz_export_tolerance(const struct quiz_question *q) {
    bool is_whole = q->answer == floor(q->answer);
    double rounding = is_whole ? 0 : 0.005 * fabs(q->answer);
    return q->tolerance > rounding ? q->tolerance : rounding;
}
