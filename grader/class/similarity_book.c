/* similarity_book.c — the book's files of an exercise. Their hashes don't count between students,
 * and a submission that copies the model solution or a step of the ladder is reported separately.
 * See similarity.h. */
#include "common/file.h"
#include "common/grow.h"
#include "grader/book/book.h"
#include "grader/class/similarity.h"
#include "grader/grade/grade.h"

#include <stdlib.h>

struct hash_list {
    uint64_t *h;
    size_t n, capacity;
};

static bool contains_hash(const struct hash_list *l, uint64_t h) {
    return l->n && bsearch(&h, l->h, l->n, sizeof *l->h, similarity_compare_hashes);
}

/* Returns the hashes of all k-grams, sorted, each once. */
static struct hash_list hashes_of(const struct similarity_token *t, unsigned n) {
    struct hash_list l = {0};
    size_t nunique = 0;
    for (unsigned i = 0; i + SIMILARITY_KGRAM <= n; i++) {
        GROW(l.h, l.n + 1, l.capacity, 1024);
        l.h[l.n++] = similarity_kgram_hash(t + i);
    }
    if (l.n) qsort(l.h, l.n, sizeof *l.h, similarity_compare_hashes);
    for (size_t i = 0; i < l.n; i++)
        if (!nunique || l.h[nunique - 1] != l.h[i]) l.h[nunique++] = l.h[i];
    l.n = nunique;
    return l;
}

static struct hash_list hashes_of_text(const struct buf *text) {
    struct similarity_token *t = NULL;
    unsigned n = 0, capacity = 0;
    similarity_tokenize(buf_str(text), text->size, &t, &n, &capacity);
    struct hash_list l = hashes_of(t, n);
    free(t);
    return l;
}

static void add_book_hashes(struct similarity_class *c, const struct hash_list *l) {
    for (size_t i = 0; i < l->n; i++) {
        GROW(c->book_hashes, c->nbook_hashes + 1, c->book_hashes_capacity, 1024);
        c->book_hashes[c->nbook_hashes++] = l->h[i];
    }
}

/* Adds a step of the ladder, or the model solution if `step` is NULL. The students' edition of the
 * book has neither. */
static void add_version(struct similarity_class *c, const char *step,
                        const struct hash_list *starter_hashes) {
    struct buf text = {0};
    struct err e = {0};
    if (file_read(book_solution_file(c->ex, step), SOURCE_LIMIT, &text, &e)) {
        struct hash_list all = hashes_of_text(&text);
        struct similarity_version v = {.name = xstrdup(step ? step : "model solution")};
        for (size_t i = 0; i < all.n; i++) {
            if (contains_hash(starter_hashes, all.h[i])) continue;
            GROW(v.unique_hashes, v.nunique_hashes + 1, v.capacity, 256);
            v.unique_hashes[v.nunique_hashes++] = all.h[i];
        }
        add_book_hashes(c, &all);
        GROW(c->versions, c->nversions + 1, c->versions_capacity, 8);
        c->versions[c->nversions++] = v;
        free(all.h);
    }
    buf_free(&text);
}

void similarity_load_book(struct similarity_class *c) {
    struct buf text = {0};
    struct err e = {0};
    struct hash_list starter_hashes = {0};
    char **steps = book_ladder_steps(c->ex);
    if (book_original_starter(c->ex, &text, &e)) starter_hashes = hashes_of_text(&text);
    add_version(c, NULL, &starter_hashes);
    for (unsigned i = 0; steps && steps[i]; i++) add_version(c, steps[i], &starter_hashes);
    add_book_hashes(c, &starter_hashes);
    if (c->nbook_hashes)
        qsort(c->book_hashes, c->nbook_hashes, sizeof *c->book_hashes, similarity_compare_hashes);
    if (steps) book_free_list(steps);
    buf_free(&text), free(starter_hashes.h);
}

void similarity_match_book(const struct similarity_class *c, struct similarity_text *t) {
    struct hash_list l = hashes_of(t->tokens, t->ntokens);
    t->book_share = 0;
    for (unsigned v = 0; v < c->nversions; v++) {
        const struct similarity_version *version = &c->versions[v];
        size_t n = 0;
        if (version->nunique_hashes < SIMILARITY_MIN_UNIQUE) continue;
        for (size_t i = 0; i < version->nunique_hashes; i++)
            n += contains_hash(&l, version->unique_hashes[i]);
        double share = (double)n / (double)version->nunique_hashes;
        if (share > t->book_share) t->book_share = share, t->book_version = v;
    }
    free(l.h);
}

void similarity_free_book(struct similarity_class *c) {
    for (unsigned v = 0; v < c->nversions; v++)
        free(c->versions[v].name), free(c->versions[v].unique_hashes);
    free(c->versions), free(c->book_hashes);
}
