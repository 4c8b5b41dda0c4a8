/* text.c — see text.h. */
#include "common/text.h"

#include <string.h>
#include <strings.h>

/* Returns the bytes of the UTF-8 character at `s` and sets `code`; 0 if it is invalid. */
static size_t utf8_decode(const unsigned char *s, size_t n, unsigned *code) {
    static const unsigned smallest[5] = {0, 0, 0x80, 0x800, 0x10000};
    size_t length = s[0] < 0x80                   ? 1
                    : s[0] >= 0xc2 && s[0] < 0xe0 ? 2
                    : s[0] >= 0xe0 && s[0] < 0xf0 ? 3
                    : s[0] >= 0xf0 && s[0] < 0xf5 ? 4
                                                  : 0;
    *code = s[0];
    if (length <= 1 || length > n) return length > n ? 0 : length;
    *code = s[0] & (0x7f >> length);
    for (size_t i = 1; i < length; i++) {
        if ((s[i] & 0xc0) != 0x80) return 0;
        *code = *code << 6 | (s[i] & 0x3f);
    }
    bool is_surrogate = *code >= 0xd800 && *code < 0xe000;
    return *code < smallest[length] || is_surrogate || *code > 0x10ffff ? 0 : length;
}

/* Returns the bytes of the UTF-8 character at `s`, 0 if it is invalid. Also rejects C1 controls
 * (U+0080..9F) and line separators, which some terminals obey, and direction overrides, which
 * disguise code. */
static size_t utf8_length(const unsigned char *s, size_t n) {
    unsigned code;
    size_t length = utf8_decode(s, n, &code);
    bool unsafe = (code >= 0x80 && code < 0xa0) || code == 0x2028 || code == 0x2029 ||
                  (code >= 0x202a && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069);
    return length > 1 && unsafe ? 0 : length;
}

void text_put_utf8(struct buf *out, const char *s) {
    for (size_t n = strlen(s), length; n; s += length, n -= length) {
        unsigned code;
        length = utf8_decode((const unsigned char *)s, n, &code);
        if (length) buf_add(out, s, length);
        else length = 1, buf_puts(out, "\ufffd");
    }
}

static void append_clean(struct buf *out, const char *s, size_t n, bool one_line) {
    for (size_t i = 0; i < n;) {
        const unsigned char *p = (const unsigned char *)s + i;
        size_t length = utf8_length(p, n - i);
        bool printable = length > 1 || (length == 1 && *p >= 0x20 && *p != 0x7f) ||
                         (!one_line && (*p == '\n' || *p == '\t'));
        if (printable) buf_add(out, p, length);
        else if (*p == '\r' && !one_line) length = 1;
        else length = 1, buf_printf(out, "\\x%02x", *p);
        i += length;
    }
}

void text_clean(struct buf *out, const char *s, size_t n, size_t limit) {
    size_t kept_bytes = n;
    if (n > limit) {
        for (kept_bytes = limit; kept_bytes > limit / 2 && s[kept_bytes - 1] != '\n';
             kept_bytes--) {}
        if (kept_bytes == limit / 2) kept_bytes = limit;
    }
    append_clean(out, s, kept_bytes, false);
    if (kept_bytes < n) buf_printf(out, "[%zu more bytes left out]\n", n - kept_bytes);
}

void text_clean_name(struct buf *out, const char *s) { append_clean(out, s, strlen(s), true); }

void text_replace(struct buf *b, const char *from, const char *to) {
    struct buf out = {0};
    const char *s = buf_str(b), *end = s + b->size;
    for (const char *at; (at = memmem(s, (size_t)(end - s), from, strlen(from)));) {
        buf_add(&out, s, (size_t)(at - s));
        buf_puts(&out, to);
        s = at + strlen(from);
    }
    buf_add(&out, s, (size_t)(end - s));
    buf_free(b);
    *b = out;
}

/* ---- symbol names ---- */

static bool is_word_char(char c) {
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_' ||
           c == '$' || c == '.';
}

/* Appends one `<length><name>` of the Itanium ABI; returns the position after it, or NULL. */
static const char *component(const char *s, const char *end, struct buf *out) {
    size_t n = 0;
    if (s >= end || *s < '1' || *s > '9') return NULL;
    while (s < end && *s >= '0' && *s <= '9' && n < 4096) n = n * 10 + (size_t)(*s++ - '0');
    if (n > (size_t)(end - s)) return NULL;
    buf_add(out, s, n);
    return s + n;
}

/* Appends the name without argument types; template arguments become <…>. */
static bool demangle_one(const char *s, const char *end, struct buf *out) {
    bool nested = s < end && *s == 'N', first = true;
    s += nested;
    for (const char *next; (next = component(s, end, out)); s = next, first = false)
        if (!nested) return buf_puts(out, next < end && *next == 'I' ? "<…>" : ""), true;
        else if (next < end && *next >= '1' && *next <= '9') buf_puts(out, "::");
    return !first;
}

void text_demangle(struct buf *b) {
    struct buf out = {0};
    const char *s = buf_str(b), *end = s + b->size;
    for (const char *at; (at = memmem(s, (size_t)(end - s), "_Z", 2));) {
        const char *stop = at + 2;
        while (stop < end && is_word_char(*stop)) stop++;
        struct buf name = {0};
        bool ok = (at == buf_str(b) || !is_word_char(at[-1])) && demangle_one(at + 2, stop, &name);
        buf_add(&out, s, (size_t)(at - s));
        if (ok) buf_add(&out, buf_str(&name), name.size);
        else buf_add(&out, at, (size_t)(stop - at));
        buf_free(&name);
        s = stop;
    }
    buf_add(&out, s, (size_t)(end - s));
    buf_free(b);
    *b = out;
}

/* Returns true if blank lines surround the comment from `open` to `end` in a text. */
static bool is_block(const char *text, const char *open, const char *end) {
    return open - text >= 2 && !strncmp(open - 2, "\n\n", 2) && !strncmp(end, "\n\n", 2);
}

/* Removes the comments; with `keeps_blocks`, a block stays, without its content. */
static void remove_comments(struct buf *text, bool keeps_blocks) {
    static const char block[] = "<!---->";
    char *to = text->data;
    for (const char *at = to, *end; at && *at; at = end) {
        const char *open = strstr(at, "<!--"), *stop = open ? open : at + strlen(at);
        end = open ? strstr(open, "-->") : NULL;
        bool stays = end && keeps_blocks && is_block(text->data, open, end + 3);
        memmove(to, at, (size_t)(stop - at)), to += stop - at;
        if (end) end += 3;
        if (stays) memcpy(to, block, sizeof block - 1), to += sizeof block - 1;
        else if (end) end += *end == '\n';
    }
    if (text->data) *to = 0, text->size = (size_t)(to - text->data);
}

void text_strip_comments(struct buf *text) { remove_comments(text, false); }

void text_empty_comments(struct buf *text) { remove_comments(text, true); }

bool text_starts_with(const char *s, const char *prefix) {
    return strncmp(s, prefix, strlen(prefix)) == 0;
}

bool text_ends_with(const char *s, const char *suffix) {
    size_t n = strlen(s), m = strlen(suffix);
    return n >= m && strcmp(s + n - m, suffix) == 0;
}

bool text_ends_with_ignore_case(const char *s, const char *suffix) {
    size_t n = strlen(s), k = strlen(suffix);
    return n >= k && !strcasecmp(s + n - k, suffix);
}
