/* roster_fold.c — see roster_fold.h. */
#include "grader/class/roster_fold.h"
#include "common/err.h"

#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <wctype.h>

enum { FIRST_COMBINING = 0x300, LAST_COMBINING = 0x36f };

static const struct {
    char letter;
    const char *accented;
} accents[] = {
#define ACCENTED(letter, text) {letter, text},
#include "grader/class/roster_accents.def"
#undef ACCENTED
};

/* Returns the number of bytes of the character at `s`, and its code; an invalid byte is a character
 * of its own, with code 0. */
static unsigned decode(const char *s, wint_t *code) {
    unsigned char first = (unsigned char)*s;
    unsigned n = first < 0x80 ? 1 : first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : first >= 0xc2 ? 2 : 0;
    *code = n == 1 ? first : n ? (wint_t)(first & (0x7f >> n)) : 0;
    for (unsigned i = 1; i < n; i++) {
        if (((unsigned char)s[i] & 0xc0) != 0x80) return *code = 0, 1;
        *code = *code << 6 | ((unsigned char)s[i] & 0x3f);
    }
    return n ? n : 1;
}

static char *encode(char *out, wint_t code) {
    if (code < 0x80) return *out = (char)code, out + 1;
    unsigned n = code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    for (unsigned i = n; i-- > 1; code >>= 6) out[i] = (char)(0x80 | (code & 0x3f));
    out[0] = (char)((0xf00 >> n) | code);
    return out + n;
}

static wint_t to_lower(wint_t code) {
    static locale_t utf8;
    if (code < 0x80) return code >= 'A' && code <= 'Z' ? code + 32 : code;
    if (!utf8) utf8 = newlocale(LC_CTYPE_MASK, "C.UTF-8", 0);
    return utf8 ? towlower_l(code, utf8) : code;
}

char *roster_fold(const char *name) {
    char *folded = xcalloc(2, strlen(name) + 1), *out = folded; /* a few letters grow by a byte */
    for (unsigned n; *name; name += n) {
        wint_t code;
        n = decode(name, &code);
        if (code) out = encode(out, to_lower(code));
        else *out++ = *name;
    }
    return folded;
}

/* Returns the letter of an accented one of `n` bytes; 0 if it has no accent. */
static char base_letter(const char *s, unsigned n) {
    for (unsigned i = 0; n > 1 && i < sizeof accents / sizeof *accents; i++)
        for (const char *p = accents[i].accented; (p = strchr(p, *s)); p++)
            if (!strncmp(p, s, n)) return accents[i].letter;
    return 0;
}

char *roster_strip_accents(const char *folded) {
    char *stripped = xcalloc(1, strlen(folded) + 1), *out = stripped;
    for (unsigned n; *folded; folded += n) {
        wint_t code;
        n = decode(folded, &code);
        char base = base_letter(folded, n);
        if (code >= FIRST_COMBINING && code <= LAST_COMBINING) continue;
        if (base) *out++ = base;
        else memcpy(out, folded, n), out += n;
    }
    return stripped;
}
