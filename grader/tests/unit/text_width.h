/* text_width.h — the width of UTF-8 text on a screen, for tests of reports. */
#pragma once

#include <stdbool.h>
#include <string.h>

/* The columns of the n bytes at `text`: one for each character. */
static inline unsigned text_columns(const char *text, size_t n) {
    unsigned width = 0;
    for (size_t i = 0; i < n; i++) width += ((unsigned char)text[i] & 0xc0) != 0x80;
    return width;
}

static inline bool text_is_within(const char *text, unsigned columns) {
    for (const char *l = text; *l; l += strcspn(l, "\n") + (l[strcspn(l, "\n")] == '\n'))
        if (text_columns(l, strcspn(l, "\n")) > columns) return false;
    return true;
}
