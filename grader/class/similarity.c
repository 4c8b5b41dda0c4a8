/* similarity.c — see similarity.h. */
#include "grader/class/similarity.h"
#include "common/grow.h"

#include <stdlib.h>
#include <string.h>

const struct similarity_options similarity_defaults = {
    .min_share = 0.5, .min_common = 4, .max_class_share = 0.25, .min_book_share = 0.75};

/* ---- fingerprints ---- */

/* FNV-1a, then the finalizer of MurmurHash3, so that any position of a window may have the smallest
 * hash. */
uint64_t similarity_kgram_hash(const struct similarity_token *t) {
    uint64_t h = 0xcbf29ce484222325u;
    for (unsigned i = 0; i < SIMILARITY_KGRAM; i++) h = (h ^ t[i].code) * 0x100000001b3u;
    h ^= h >> 33, h *= 0xff51afd7ed558ccdu;
    h ^= h >> 33, h *= 0xc4ceb9fe1a85ec53u;
    return h ^ h >> 33;
}

static int by_hash(const void *a, const void *b) {
    const struct similarity_fingerprint *x = a, *y = b;
    return x->hash != y->hash
               ? (x->hash > y->hash) - (x->hash < y->hash)
               : (x->first_token > y->first_token) - (x->first_token < y->first_token);
}
int similarity_compare_hashes(const void *a, const void *b) {
    return (*(const uint64_t *)a > *(const uint64_t *)b) -
           (*(const uint64_t *)a < *(const uint64_t *)b);
}

static bool is_book_hash(const struct similarity_class *c, uint64_t h) {
    return c->nbook_hashes && bsearch(&h, c->book_hashes, c->nbook_hashes, sizeof *c->book_hashes,
                                      similarity_compare_hashes);
}

static void add_fingerprint(struct similarity_text *t, uint64_t h, unsigned at) {
    GROW(t->fingerprints, t->nfingerprints + 1, t->fingerprints_capacity, 128);
    t->fingerprints[t->nfingerprints++] = (struct similarity_fingerprint){h, at};
}

static void sort_fingerprints(struct similarity_text *t) {
    unsigned nunique = 0;
    if (t->nfingerprints)
        qsort(t->fingerprints, t->nfingerprints, sizeof *t->fingerprints, by_hash);
    for (unsigned i = 0; i < t->nfingerprints; i++)
        if (!nunique || t->fingerprints[nunique - 1].hash != t->fingerprints[i].hash)
            t->fingerprints[nunique++] = t->fingerprints[i];
    t->nfingerprints = nunique;
}

/* Keeps the smallest hash of each window, the last one of equal hashes. The book's hashes are no
 * candidates, so that they don't displace a student's own. */
static void winnow(const struct similarity_class *c, struct similarity_text *t) {
    unsigned n = t->ntokens >= SIMILARITY_KGRAM ? t->ntokens - SIMILARITY_KGRAM + 1 : 0,
             last = UINT32_MAX;
    uint64_t *h = xcalloc(n + 1, sizeof *h);
    for (unsigned i = 0; i < n; i++) {
        h[i] = similarity_kgram_hash(t->tokens + i);
        if (is_book_hash(c, h[i])) h[i] = UINT64_MAX;
    }
    unsigned windows = n > SIMILARITY_WINDOW ? n - SIMILARITY_WINDOW + 1 : n ? 1 : 0;
    for (unsigned w = 0; w < windows; w++) {
        unsigned min_index = w;
        for (unsigned i = w; i < w + SIMILARITY_WINDOW && i < n; i++)
            if (h[i] <= h[min_index]) min_index = i;
        if (h[min_index] != UINT64_MAX && min_index != last)
            add_fingerprint(t, h[min_index], min_index), last = min_index;
    }
    free(h);
    sort_fingerprints(t);
}

void similarity_add_text(struct similarity_class *c, const char *student, const char *file,
                         const void *source, size_t size) {
    GROW(c->texts, c->ntexts + 1, c->texts_capacity, 64);
    struct similarity_text *t = &c->texts[c->ntexts++];
    *t = (struct similarity_text){
        .student = xstrdup(student), .file = xstrdup(file), .origin = c->origin};
    buf_add(&t->source, source, size);
    similarity_tokenize(buf_str(&t->source), size, &t->tokens, &t->ntokens, &t->tokens_capacity);
    similarity_match_book(c, t);
    winnow(c, t);
}

/* ---- pairs ---- */

struct origin_hash {
    uint64_t hash;
    unsigned origin;
};

static int by_hash_and_origin(const void *a, const void *b) {
    const struct origin_hash *x = a, *y = b;
    return x->hash != y->hash ? (x->hash > y->hash) - (x->hash < y->hash)
                              : (x->origin > y->origin) - (x->origin < y->origin);
}

/* Returns all fingerprints of all texts, sorted; the caller frees them. */
static struct origin_hash *all_fingerprints(const struct similarity_class *c, size_t *n) {
    struct origin_hash *list = NULL;
    size_t capacity = 0;
    *n = 0;
    for (unsigned i = 0; i < c->ntexts; i++)
        for (unsigned k = 0; k < c->texts[i].nfingerprints; k++) {
            GROW(list, *n + 1, capacity, 1024);
            list[(*n)++] =
                (struct origin_hash){c->texts[i].fingerprints[k].hash, c->texts[i].origin};
        }
    if (*n) qsort(list, *n, sizeof *list, by_hash_and_origin);
    return list;
}

/* Returns how many texts of one origin may have a fingerprint that still counts. */
static size_t max_texts_of(const struct similarity_class *c, unsigned origin, double max_share) {
    size_t n = 0;
    for (unsigned i = 0; i < c->ntexts; i++) n += c->texts[i].origin == origin;
    n = (size_t)(max_share * (double)n);
    return n < 4 ? 4 : n; /* In a small class, a fingerprint is common if five texts have it. */
}

/* Returns the fingerprints that many texts of one origin have, sorted; the caller frees them. */
static uint64_t *common_fingerprints(const struct similarity_class *c, double max_share,
                                     size_t *ncommon) {
    size_t n;
    struct origin_hash *list = all_fingerprints(c, &n);
    uint64_t *common = xcalloc(n + 1, sizeof *common);
    size_t *limits = xcalloc(c->origin + 1, sizeof *limits);
    for (unsigned o = 0; o <= c->origin; o++) limits[o] = max_texts_of(c, o, max_share);
    *ncommon = 0;
    for (size_t i = 0, next; i < n; i = next) {
        for (next = i; next < n && !by_hash_and_origin(&list[next], &list[i]); next++) {}
        if (next - i > limits[list[i].origin] &&
            (!*ncommon || common[*ncommon - 1] != list[i].hash))
            common[(*ncommon)++] = list[i].hash;
    }
    free(list), free(limits);
    return common;
}

/* Drops fingerprints that many texts have: they are common style, or were shown in class. */
static void drop_common_fingerprints(struct similarity_class *c, double max_share) {
    size_t n;
    uint64_t *common = common_fingerprints(c, max_share, &n);
    for (unsigned i = 0; i < c->ntexts; i++) {
        struct similarity_text *t = &c->texts[i];
        unsigned nkept = 0;
        for (unsigned k = 0; k < t->nfingerprints; k++)
            if (!n || !bsearch(&t->fingerprints[k].hash, common, n, sizeof *common,
                               similarity_compare_hashes))
                t->fingerprints[nkept++] = t->fingerprints[k];
        t->nfingerprints = nkept;
    }
    free(common);
}

static unsigned count_common(const struct similarity_text *a, const struct similarity_text *b) {
    unsigned i = 0, k = 0, n = 0;
    while (i < a->nfingerprints && k < b->nfingerprints)
        if (a->fingerprints[i].hash == b->fingerprints[k].hash) i++, k++, n++;
        else if (a->fingerprints[i].hash < b->fingerprints[k].hash) i++;
        else k++;
    return n;
}

static int by_share(const void *a, const void *b) {
    const struct similarity_pair *x = a, *y = b;
    if (x->share != y->share) return x->share < y->share ? 1 : -1;
    if (x->common != y->common) return x->common < y->common ? 1 : -1;
    return x->a != y->a ? (x->a > y->a) - (x->a < y->a) : (x->b > y->b) - (x->b < y->b);
}

void similarity_find_pairs(struct similarity_class *c, const struct similarity_options *o) {
    drop_common_fingerprints(c, o->max_class_share);
    for (unsigned a = 0; a < c->ntexts; a++)
        for (unsigned b = a + 1; b < c->ntexts; b++) {
            if (c->texts[a].origin && c->texts[b].origin) continue;
            unsigned na = c->texts[a].nfingerprints, nb = c->texts[b].nfingerprints,
                     min_count = na < nb ? na : nb;
            unsigned n = min_count >= o->min_common ? count_common(&c->texts[a], &c->texts[b]) : 0;
            if (n < o->min_common || n < o->min_share * min_count) continue;
            GROW(c->pairs, c->npairs + 1, c->pairs_capacity, 64);
            c->pairs[c->npairs++] = (struct similarity_pair){a, b, n, (double)n / min_count};
        }
    if (c->npairs) qsort(c->pairs, c->npairs, sizeof *c->pairs, by_share);
}

/* ---- passages ---- */

static int by_position(const void *a, const void *b) {
    const struct similarity_passage *x = a, *y = b;
    return x->a != y->a ? (x->a > y->a) - (x->a < y->a) : (x->n < y->n) - (x->n > y->n);
}

static struct similarity_passage extend_match(const struct similarity_text *a,
                                              const struct similarity_text *b, uint32_t i,
                                              uint32_t k) {
    uint32_t n = SIMILARITY_KGRAM;
    while (i && k && a->tokens[i - 1].code == b->tokens[k - 1].code) i--, k--, n++;
    while (i + n < a->ntokens && k + n < b->ntokens &&
           a->tokens[i + n].code == b->tokens[k + n].code)
        n++;
    return (struct similarity_passage){i, k, n};
}

unsigned similarity_find_passages(const struct similarity_class *c, const struct similarity_pair *p,
                                  struct similarity_passage out[SIMILARITY_MAX_PASSAGES]) {
    const struct similarity_text *a = &c->texts[p->a], *b = &c->texts[p->b];
    unsigned i = 0, k = 0, n = 0, npassages = 0;
    while (i < a->nfingerprints && k < b->nfingerprints && n < SIMILARITY_MAX_PASSAGES)
        if (a->fingerprints[i].hash == b->fingerprints[k].hash)
            out[n++] =
                extend_match(a, b, a->fingerprints[i].first_token, b->fingerprints[k].first_token),
            i++, k++;
        else if (a->fingerprints[i].hash < b->fingerprints[k].hash) i++;
        else k++;
    qsort(out, n, sizeof *out, by_position);
    for (unsigned x = 0; x < n; x++)
        if (!npassages || out[x].a + out[x].n > out[npassages - 1].a + out[npassages - 1].n)
            out[npassages++] = out[x];
    return npassages;
}

void similarity_free(struct similarity_class *c) {
    for (unsigned i = 0; i < c->ntexts; i++) {
        struct similarity_text *t = &c->texts[i];
        free(t->student), free(t->file), free(t->tokens), free(t->fingerprints),
            buf_free(&t->source);
    }
    similarity_free_book(c);
    free(c->texts), free(c->pairs);
    *c = (struct similarity_class){.ex = c->ex};
}
