/* similar.c — see similar.h. */
#include "grader/class/similar.h"
#include "common/grow.h"

#include <stdlib.h>
#include <string.h>

const struct similar_options similar_usual = {
    .least = 0.5, .least_common = 4, .widespread = 0.25, .taken = 0.75};

/* ---- fingerprints ---- */

/* Of a run of tokens; mixed so that the least of a window is any of them (FNV-1a, then the
 * finaliser of MurmurHash3). */
uint64_t similar_gram(const struct similar_token *t) {
    uint64_t h = 0xcbf29ce484222325u;
    for (unsigned i = 0; i < SIMILAR_GRAM; i++) h = (h ^ t[i].code) * 0x100000001b3u;
    h ^= h >> 33, h *= 0xff51afd7ed558ccdu;
    h ^= h >> 33, h *= 0xc4ceb9fe1a85ec53u;
    return h ^ h >> 33;
}

static int by_hash(const void *a, const void *b) {
    const struct similar_print *x = a, *y = b;
    return x->hash != y->hash ? (x->hash > y->hash) - (x->hash < y->hash)
                              : (x->at > y->at) - (x->at < y->at);
}
int similar_by_value(const void *a, const void *b) {
    return (*(const uint64_t *)a > *(const uint64_t *)b) -
           (*(const uint64_t *)a < *(const uint64_t *)b);
}

static bool in_book(const struct similar_class *c, uint64_t h) {
    return c->nbook && bsearch(&h, c->book, c->nbook, sizeof *c->book, similar_by_value);
}

static void keep_print(struct similar_text *t, uint64_t h, unsigned at) {
    GROW(t->prints, t->nprints + 1, t->room_prints, 128);
    t->prints[t->nprints++] = (struct similar_print){h, at};
}

static void sort_prints(struct similar_text *t) {
    unsigned kept = 0;
    if (t->nprints) qsort(t->prints, t->nprints, sizeof *t->prints, by_hash);
    for (unsigned i = 0; i < t->nprints; i++)
        if (!kept || t->prints[kept - 1].hash != t->prints[i].hash)
            t->prints[kept++] = t->prints[i];
    t->nprints = kept;
}

/* Of each window the least hash, the last of equal ones; what the book has is no candidate, so that
 * it hides nothing beside it. */
static void winnow(const struct similar_class *c, struct similar_text *t) {
    unsigned n = t->ntokens >= SIMILAR_GRAM ? t->ntokens - SIMILAR_GRAM + 1 : 0, last = UINT32_MAX;
    uint64_t *h = xcalloc(n + 1, sizeof *h);
    for (unsigned i = 0; i < n; i++) {
        h[i] = similar_gram(t->tokens + i);
        if (in_book(c, h[i])) h[i] = UINT64_MAX;
    }
    unsigned windows = n > SIMILAR_WINDOW ? n - SIMILAR_WINDOW + 1 : n ? 1 : 0;
    for (unsigned w = 0; w < windows; w++) {
        unsigned least = w;
        for (unsigned i = w; i < w + SIMILAR_WINDOW && i < n; i++)
            if (h[i] <= h[least]) least = i;
        if (h[least] != UINT64_MAX && least != last) keep_print(t, h[least], least), last = least;
    }
    free(h);
    sort_prints(t);
}

void similar_add(struct similar_class *c, const char *student, const char *file, const void *source,
                 size_t size) {
    GROW(c->texts, c->ntexts + 1, c->room_texts, 64);
    struct similar_text *t = &c->texts[c->ntexts++];
    *t = (struct similar_text){.student = xstrdup(student), .file = xstrdup(file)};
    buf_add(&t->source, source, size);
    similar_tokens(buf_str(&t->source), size, &t->tokens, &t->ntokens, &t->room_tokens);
    similar_ask_book(c, t);
    winnow(c, t);
}

/* ---- pairs ---- */

/* What a good part of the class wrote the same way is how one writes it, or was said in class. */
static void drop_widespread(struct similar_class *c, double part) {
    uint64_t *all = NULL;
    size_t n = 0, room = 0, most = (size_t)(part * c->ntexts);
    if (most < 4) most = 4; /* of a small class nothing is widespread but what five have */
    for (unsigned i = 0; i < c->ntexts; i++)
        for (unsigned k = 0; k < c->texts[i].nprints; k++) {
            GROW(all, n + 1, room, 1024);
            all[n++] = c->texts[i].prints[k].hash;
        }
    if (n) qsort(all, n, sizeof *all, similar_by_value);
    size_t kept = 0;
    for (size_t i = 0, next; i < n; i = next) {
        for (next = i; next < n && all[next] == all[i]; next++) {}
        if (next - i > most) all[kept++] = all[i];
    }
    for (unsigned i = 0; i < c->ntexts; i++) {
        struct similar_text *t = &c->texts[i];
        unsigned left = 0;
        for (unsigned k = 0; k < t->nprints; k++)
            if (!kept || !bsearch(&t->prints[k].hash, all, kept, sizeof *all, similar_by_value))
                t->prints[left++] = t->prints[k];
        t->nprints = left;
    }
    free(all);
}

static unsigned common(const struct similar_text *a, const struct similar_text *b) {
    unsigned i = 0, k = 0, n = 0;
    while (i < a->nprints && k < b->nprints)
        if (a->prints[i].hash == b->prints[k].hash) i++, k++, n++;
        else if (a->prints[i].hash < b->prints[k].hash) i++;
        else k++;
    return n;
}

static int most_alike(const void *a, const void *b) {
    const struct similar_pair *x = a, *y = b;
    if (x->share != y->share) return x->share < y->share ? 1 : -1;
    if (x->common != y->common) return x->common < y->common ? 1 : -1;
    return x->a != y->a ? (x->a > y->a) - (x->a < y->a) : (x->b > y->b) - (x->b < y->b);
}

void similar_find(struct similar_class *c, const struct similar_options *o) {
    drop_widespread(c, o->widespread);
    for (unsigned a = 0; a < c->ntexts; a++)
        for (unsigned b = a + 1; b < c->ntexts; b++) {
            unsigned na = c->texts[a].nprints, nb = c->texts[b].nprints, least = na < nb ? na : nb;
            unsigned n = least >= o->least_common ? common(&c->texts[a], &c->texts[b]) : 0;
            if (n < o->least_common || n < o->least * least) continue;
            GROW(c->pairs, c->npairs + 1, c->room_pairs, 64);
            c->pairs[c->npairs++] = (struct similar_pair){a, b, n, (double)n / least};
        }
    if (c->npairs) qsort(c->pairs, c->npairs, sizeof *c->pairs, most_alike);
}

/* ---- passages ---- */

static int by_place(const void *a, const void *b) {
    const struct similar_passage *x = a, *y = b;
    return x->a != y->a ? (x->a > y->a) - (x->a < y->a) : (x->n < y->n) - (x->n > y->n);
}

static struct similar_passage widen(const struct similar_text *a, const struct similar_text *b,
                                    uint32_t i, uint32_t k) {
    uint32_t n = SIMILAR_GRAM;
    while (i && k && a->tokens[i - 1].code == b->tokens[k - 1].code) i--, k--, n++;
    while (i + n < a->ntokens && k + n < b->ntokens &&
           a->tokens[i + n].code == b->tokens[k + n].code)
        n++;
    return (struct similar_passage){i, k, n};
}

unsigned similar_passages(const struct similar_class *c, const struct similar_pair *p,
                          struct similar_passage out[SIMILAR_PASSAGES]) {
    const struct similar_text *a = &c->texts[p->a], *b = &c->texts[p->b];
    unsigned i = 0, k = 0, n = 0, kept = 0;
    while (i < a->nprints && k < b->nprints && n < SIMILAR_PASSAGES)
        if (a->prints[i].hash == b->prints[k].hash)
            out[n++] = widen(a, b, a->prints[i].at, b->prints[k].at), i++, k++;
        else if (a->prints[i].hash < b->prints[k].hash) i++;
        else k++;
    qsort(out, n, sizeof *out, by_place);
    for (unsigned x = 0; x < n; x++)
        if (!kept || out[x].a + out[x].n > out[kept - 1].a + out[kept - 1].n) out[kept++] = out[x];
    return kept;
}

void similar_free(struct similar_class *c) {
    for (unsigned i = 0; i < c->ntexts; i++) {
        struct similar_text *t = &c->texts[i];
        free(t->student), free(t->file), free(t->tokens), free(t->prints), buf_free(&t->source);
    }
    similar_free_book(c);
    free(c->texts), free(c->pairs);
    *c = (struct similar_class){.ex = c->ex};
}
