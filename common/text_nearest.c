/* text_nearest.c — finds the word that somebody probably meant. */
#include "common/text.h"

#include <ctype.h>
#include <string.h>

enum { MAX_WORD = 48 };

static unsigned min3(unsigned a, unsigned b, unsigned c) {
    unsigned ab = a < b ? a : b;
    return ab < c ? ab : c;
}

/* The edit distance in which a swap of neighbours counts as one edit. Words are below MAX_WORD. */
static unsigned edit_distance(const char *a, size_t na, const char *b, size_t nb) {
    unsigned d[MAX_WORD + 1][MAX_WORD + 1];
    for (unsigned i = 0; i <= na; i++) d[i][0] = i;
    for (unsigned k = 0; k <= nb; k++) d[0][k] = k;
    for (size_t i = 1; i <= na; i++)
        for (size_t k = 1; k <= nb; k++) {
            bool swapped = i > 1 && k > 1 && a[i - 1] == b[k - 2] && a[i - 2] == b[k - 1];
            d[i][k] =
                min3(d[i - 1][k] + 1, d[i][k - 1] + 1, d[i - 1][k - 1] + (a[i - 1] != b[k - 1]));
            if (swapped && d[i - 2][k - 2] + 1 < d[i][k]) d[i][k] = d[i - 2][k - 2] + 1;
        }
    return d[na][nb];
}

static bool is_word_character(char c) { return isalnum((unsigned char)c) || c == '-' || c == '_'; }

bool text_nearest(const char *word, const char *words, char *out, size_t size) {
    size_t nword = strlen(word);
    unsigned limit = nword < 4 ? 1 : nword < 8 ? 2 : 3, best = limit + 1;
    for (const char *at = words; nword <= MAX_WORD && *at;) {
        size_t n = 0;
        while (is_word_character(at[n])) n++;
        bool same_kind = n && n < size && n <= MAX_WORD && (*at == '-') == (*word == '-');
        unsigned distance = same_kind ? edit_distance(word, nword, at, n) : best;
        bool is_prefix = same_kind && nword > 3 && n > nword && !strncmp(at, word, nword);
        if (is_prefix && distance > limit) distance = limit;
        if (distance < best) {
            best = distance;
            memcpy(out, at, n);
            out[n] = 0;
        }
        at += n ? n : 1;
    }
    return best <= limit;
}
