/* page.c — see page.h. */
#include "grader/class/page.h"
#include "common/hash.h"
#include "grader/page/page.h"

#include <stdio.h>
#include <string.h>

void class_page_text(const char *s, struct buf *out) { html_escape_text(s, out); }

void class_page_begin(const char *title, struct buf *out) {
    page_open(title, NULL, out);
    page_element("h1", "", title, out);
}

void class_page_end(struct buf *out) { page_close(NULL, out); }

void class_page_name(const char *id, const char *ending, char out[256]) {
    char sum[HASH_HEX_SIZE];
    size_t n = 0;
    bool changed = !*id || *id == '.';
    for (; id[n] && n < 120; n++) {
        bool plain = (id[n] >= 'a' && id[n] <= 'z') || (id[n] >= '0' && id[n] <= '9') ||
                     strchr("-_.@+", id[n]) || (id[n] >= 'A' && id[n] <= 'Z');
        out[n] = plain ? id[n] : '_', changed |= !plain;
    }
    changed |= id[n] != 0, out[n] = 0;
    sha256_hex(id, strlen(id), sum);
    if (*out == '.') *out = '_';
    if (changed) snprintf(out + n, 256 - n, "-%.8s", sum);
    strncat(out, ending, 64);
}
