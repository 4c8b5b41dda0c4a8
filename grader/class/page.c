/* page.c — see page.h. */
#include "grader/class/page.h"
#include "common/hash.h"
#include "grader/page/page.h"

#include <stdio.h>
#include <string.h>

void class_page_put_text(const char *s, struct buf *out) { html_escape_text(s, out); }

void class_page_begin(const char *title, struct buf *out) {
    page_open(title, NULL, out);
    page_element("h1", "", title, out);
}

void class_page_end(struct buf *out) { page_close(NULL, out); }

void class_page_file_name(const char *id, const char *suffix, char out[256]) {
    char digest[HASH_HEX_SIZE];
    size_t n = 0;
    bool is_changed = !*id || *id == '.';
    for (; id[n] && n < 120; n++) {
        bool is_safe = (id[n] >= 'a' && id[n] <= 'z') || (id[n] >= '0' && id[n] <= '9') ||
                       strchr("-_.@+", id[n]) || (id[n] >= 'A' && id[n] <= 'Z');
        out[n] = is_safe ? id[n] : '_', is_changed |= !is_safe;
    }
    is_changed |= id[n] != 0, out[n] = 0;
    sha256_hex(id, strlen(id), digest);
    if (*out == '.') *out = '_';
    if (is_changed) snprintf(out + n, 256 - n, "-%.8s", digest);
    strncat(out, suffix, 64);
}
