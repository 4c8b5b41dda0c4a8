/* similar.h — which submissions of an exercise have passages in common that the book does not have:
 * winnowed fingerprints of token streams, after Schleimer, Wilkerson and Aiken, "Winnowing: Local
 * Algorithms for Document Fingerprinting", SIGMOD 2003. Names and numbers count as any name and any
 * number, so that renaming hides nothing; what the skeleton, the ladder or the model answer has is
 * taken out, and what a good part of the class has, too. docs/similarity.md says how sure it is. */
#pragma once
#include "common/exercise.h"
#include "grader/class/store.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum {
    SIMILAR_OWN = 40, /* fingerprints of a version of the book's beyond the skeleton, below which no
                         text is held against it */
    SIMILAR_GRAM = 14,  /* tokens of a fingerprint: what is shorter is never found */
    SIMILAR_WINDOW = 8, /* positions, one of which is kept: a passage of GRAM + WINDOW - 1 tokens is
                           always found */
    SIMILAR_PASSAGES = 200
};

struct similar_token {
    uint32_t code; /* what it counts as */
    uint32_t line; /* from 1 */
};
struct similar_print {
    uint64_t hash;
    uint32_t at; /* its first token */
};
struct similar_text {
    char *student, *file;
    struct buf source;
    struct similar_token *tokens;
    struct similar_print *prints; /* sorted by hash, each once; only what is the student's own */
    unsigned ntokens, nprints, room_tokens, room_prints;
    unsigned version; /* of the book's, which it has most of */
    double taken;     /* of that version's own hashes, 0 to 1; 0 where no version has SIMILAR_OWN */
};
/* The model answer, or a step of the ladder: the hashes of all its runs of tokens that the skeleton
 * does not have, sorted, each once. */
struct similar_version {
    char *name;
    uint64_t *own;
    size_t nown, room;
};
/* A passage that two texts have in common, in tokens. */
struct similar_passage {
    uint32_t a, b, n;
};
struct similar_pair {
    unsigned a, b;   /* of the texts */
    unsigned common; /* fingerprints of both */
    double share;    /* of the fingerprints of the one that has fewer */
};
struct similar_class {
    const struct exercise *ex;
    struct similar_text *texts;
    struct similar_pair *pairs; /* the most alike first */
    unsigned ntexts, npairs, room_texts, room_pairs;
    uint64_t *book; /* hashes that the book has, sorted */
    size_t nbook, room_book;
    struct similar_version *versions;
    unsigned nversions, room_versions;
};

struct similar_options {
    double least; /* pairs with a smaller share are left out */
    unsigned least_common;
    double widespread; /* fingerprints that this part of the class has are nobody's */
    double taken; /* texts with a smaller part of a version of the book's are their writers' own */
};
extern const struct similar_options similar_usual;

uint64_t similar_gram(const struct similar_token *t); /* the hash of SIMILAR_GRAM tokens */
int similar_by_value(const void *a, const void *b);   /* of hashes, for qsort */
void similar_tokens(const char *s, size_t n, struct similar_token **tokens, unsigned *count,
                    unsigned *room);
/* similar_book.c. Adds all that the book ships for the exercise to what counts for nothing, and to
 * what a text may be a copy of. */
void similar_book(struct similar_class *c);
void similar_ask_book(const struct similar_class *c,
                      struct similar_text *t); /* sets version and taken */
void similar_free_book(struct similar_class *c);
void similar_add(struct similar_class *c, const char *student, const char *file, const void *source,
                 size_t size);
void similar_find(struct similar_class *c, const struct similar_options *o);
/* Passages of a pair by where they begin in the first text, none within another; how many. */
unsigned similar_passages(const struct similar_class *c, const struct similar_pair *p,
                          struct similar_passage out[SIMILAR_PASSAGES]);
void similar_free(struct similar_class *c);

/* similar_pages.c: into a folder: index.html, a page for each pair, pairs.csv, who has a version of
 * the book's as book.csv, and for other programs sources/ and boilerplate/ with Dolos's info.csv.
 */
struct similar_pages {
    const char *folder;
    struct buf index, csv, info, books, books_csv; /* books: rows of the index */
    unsigned pairs, taken; /* taken: texts that are a version of the book's */
};
bool similar_pages_begin(struct similar_pages *p, const char *folder, struct err *e);
bool similar_pages_add(struct similar_pages *p, const struct similar_class *c, struct err *e);
bool similar_pages_end(struct similar_pages *p, struct err *e);
/* Pairs, then texts that have similar_usual.taken of a version of the book's; how many of these. */
unsigned similar_text_list(const struct similar_class *c, FILE *f);
