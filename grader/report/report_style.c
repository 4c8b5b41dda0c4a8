/* report_style.c — colours of the text report, and lines of the source in it; also used by the
 * profile. */
#include "grader/report/report.h"

#include <string.h>

const char *report_style_escape(const struct report_style *s, enum text_style i) {
    static const char *const codes[] = {"\033[0m",  "\033[1m",  "\033[2m",
                                        "\033[32m", "\033[33m", "\033[31m"};
    return s->colour ? codes[i] : "";
}

enum text_style report_verdict_style(enum verdict v) {
    return v == V_AC                                 ? TEXT_STYLE_GOOD
           : v == V_PART || v == V_IE || v == V_FLAG ? TEXT_STYLE_WARN
                                                     : TEXT_STYLE_BAD;
}

void report_source_line(const struct buf *text, unsigned n, bool trim, struct buf *out) {
    const char *s = buf_str(text);
    for (; n > 1 && *s; n--) {
        const char *end = strchr(s, '\n');
        s = end ? end + 1 : "";
    }
    while (trim && (*s == ' ' || *s == '\t')) s++;
    size_t length = strcspn(s, "\n");
    while (length && s[length - 1] == '\r') length--;
    buf_add(out, s, length);
}
