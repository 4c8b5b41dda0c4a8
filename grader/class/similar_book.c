/* similar_book.c — what the book has of an exercise: it counts for nothing between two students,
 * and who hands in the model answer or a step of the ladder is told apart. See similar.h. */
#include "common/file.h"
#include "common/grow.h"
#include "grader/book/book.h"
#include "grader/class/similar.h"
#include "grader/grade/grade.h"

#include <stdlib.h>

struct hashes {
    uint64_t *h;
    size_t n, room;
};

static bool has(const struct hashes *l, uint64_t h) {
    return l->n && bsearch(&h, l->h, l->n, sizeof *l->h, similar_by_value);
}

/* Sorted, each once. */
static struct hashes hashes_of(const struct similar_token *t, unsigned n) {
    struct hashes l = {0};
    size_t kept = 0;
    for (unsigned i = 0; i + SIMILAR_GRAM <= n; i++) {
        GROW(l.h, l.n + 1, l.room, 1024);
        l.h[l.n++] = similar_gram(t + i);
    }
    if (l.n) qsort(l.h, l.n, sizeof *l.h, similar_by_value);
    for (size_t i = 0; i < l.n; i++)
        if (!kept || l.h[kept - 1] != l.h[i]) l.h[kept++] = l.h[i];
    l.n = kept;
    return l;
}

static struct hashes hashes_of_text(const struct buf *text) {
    struct similar_token *t = NULL;
    unsigned n = 0, room = 0;
    similar_tokens(buf_str(text), text->size, &t, &n, &room);
    struct hashes l = hashes_of(t, n);
    free(t);
    return l;
}

static void add_hashes(struct similar_class *c, const struct hashes *l) {
    for (size_t i = 0; i < l->n; i++) {
        GROW(c->book, c->nbook + 1, c->room_book, 1024);
        c->book[c->nbook++] = l->h[i];
    }
}

/* `step` NULL: the model answer. A student's release has neither. */
static void add_version(struct similar_class *c, const char *step, const struct hashes *skeleton) {
    struct buf text = {0};
    struct err e = {0};
    if (file_read(book_solution_file(c->ex, step), SOURCE_LIMIT, &text, &e)) {
        struct hashes all = hashes_of_text(&text);
        struct similar_version v = {.name = xstrdup(step ? step : "model answer")};
        for (size_t i = 0; i < all.n; i++) {
            if (has(skeleton, all.h[i])) continue;
            GROW(v.own, v.nown + 1, v.room, 256);
            v.own[v.nown++] = all.h[i];
        }
        add_hashes(c, &all);
        GROW(c->versions, c->nversions + 1, c->room_versions, 8);
        c->versions[c->nversions++] = v;
        free(all.h);
    }
    buf_free(&text);
}

void similar_book(struct similar_class *c) {
    struct buf text = {0};
    struct err e = {0};
    struct hashes skeleton = {0};
    char **steps = book_ladder_steps(c->ex);
    if (book_original_starter(c->ex, &text, &e)) skeleton = hashes_of_text(&text);
    add_version(c, NULL, &skeleton);
    for (unsigned i = 0; steps && steps[i]; i++) add_version(c, steps[i], &skeleton);
    add_hashes(c, &skeleton);
    if (c->nbook) qsort(c->book, c->nbook, sizeof *c->book, similar_by_value);
    if (steps) book_free_list(steps);
    buf_free(&text), free(skeleton.h);
}

void similar_ask_book(const struct similar_class *c, struct similar_text *t) {
    struct hashes l = hashes_of(t->tokens, t->ntokens);
    t->taken = 0;
    for (unsigned v = 0; v < c->nversions; v++) {
        const struct similar_version *own = &c->versions[v];
        size_t n = 0;
        if (own->nown < SIMILAR_OWN) continue;
        for (size_t i = 0; i < own->nown; i++) n += has(&l, own->own[i]);
        double taken = (double)n / (double)own->nown;
        if (taken > t->taken) t->taken = taken, t->version = v;
    }
    free(l.h);
}

void similar_free_book(struct similar_class *c) {
    for (unsigned v = 0; v < c->nversions; v++) free(c->versions[v].name), free(c->versions[v].own);
    free(c->versions), free(c->book);
}
