/* similarity.h — which submissions of an exercise have passages in common that the book does not have:
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
    SIMILARITY_MIN_UNIQUE = 40, /* fingerprints of a version of the book's beyond the skeleton,
                         below which no text is held against it */
    SIMILARITY_KGRAM = 14,      /* tokens of a fingerprint: what is shorter is never found */
    SIMILARITY_WINDOW = 8, /* positions, one of which is kept: a passage of GRAM + WINDOW - 1 tokens
                           is always found */
    SIMILARITY_MAX_PASSAGES = 200
};

struct similarity_token {
    uint32_t code; /* what it counts as */
    uint32_t line; /* from 1 */
};
struct similarity_fingerprint {
    uint64_t hash;
    uint32_t first_token; /* its first token */
};
struct similarity_text {
    char *student, *file;
    struct buf source;
    struct similarity_token *tokens;
    struct similarity_fingerprint
        *fingerprints; /* sorted by hash, each once; only what is the student's own */
    unsigned ntokens, nfingerprints, tokens_capacity, fingerprints_capacity;
    unsigned book_version; /* of the book's, which it has most of */
    double book_share;     /* of that version's own hashes, 0 to 1; 0 where no version has
                              SIMILARITY_MIN_UNIQUE */
};
/* The model answer, or a step of the ladder: the hashes of all its runs of tokens that the skeleton
 * does not have, sorted, each once. */
struct similarity_version {
    char *name;
    uint64_t *unique_hashes;
    size_t nunique_hashes, capacity;
};
/* A passage that two texts have in common, in tokens. */
struct similarity_passage {
    uint32_t a, b, n;
};
struct similarity_pair {
    unsigned a, b;   /* of the texts */
    unsigned common; /* fingerprints of both */
    double share;    /* of the fingerprints of the one that has fewer */
};
struct similarity_class {
    const struct exercise *ex;
    struct similarity_text *texts;
    struct similarity_pair *pairs; /* the most alike first */
    unsigned ntexts, npairs, texts_capacity, pairs_capacity;
    uint64_t *book_hashes; /* hashes that the book has, sorted */
    size_t nbook_hashes, book_hashes_capacity;
    struct similarity_version *versions;
    unsigned nversions, versions_capacity;
};

struct similarity_options {
    double min_share; /* pairs with a smaller share are left out */
    unsigned min_common;
    double max_class_share; /* fingerprints that this part of the class has are nobody's */
    double min_book_share;  /* texts with a smaller part of a version of the book's are their
                               writers' own */
};
extern const struct similarity_options similarity_defaults;

uint64_t
similarity_kgram_hash(const struct similarity_token *t); /* the hash of SIMILARITY_KGRAM tokens */
int similarity_compare_hashes(const void *a, const void *b); /* of hashes, for qsort */
void similarity_tokenize(const char *s, size_t n, struct similarity_token **tokens, unsigned *count,
                         unsigned *capacity);
/* similarity_load_book.c. Adds all that the book ships for the exercise to what counts for nothing,
 * and to what a text may be a copy of. */
void similarity_load_book(struct similarity_class *c);
void similarity_match_book(const struct similarity_class *c,
                           struct similarity_text *t); /* sets version and taken */
void similarity_free_book(struct similarity_class *c);
void similarity_add_text(struct similarity_class *c, const char *student, const char *file,
                         const void *source, size_t size);
void similarity_find_pairs(struct similarity_class *c, const struct similarity_options *o);
/* Passages of a pair by where they begin in the first text, none within another; how many. */
unsigned similarity_find_passages(const struct similarity_class *c, const struct similarity_pair *p,
                                  struct similarity_passage out[SIMILARITY_MAX_PASSAGES]);
void similarity_free(struct similarity_class *c);

/* similarity_pages.c: into a folder: index.html, a page for each pair, pairs.csv, who has a version
 * of the book's as book.csv, and for other programs sources/ and boilerplate/ with Dolos's
 * info.csv.
 */
struct similarity_pages {
    const char *folder;
    struct buf index, pairs_csv, info_csv, book_rows, book_csv; /* books: rows of the index */
    unsigned pair_count, book_copy_count; /* taken: texts that are a version of the book's */
};
bool similarity_pages_begin(struct similarity_pages *p, const char *folder, struct err *e);
bool similarity_pages_add(struct similarity_pages *p, const struct similarity_class *c,
                          struct err *e);
bool similarity_pages_end(struct similarity_pages *p, struct err *e);
/* Pairs, then texts that have similarity_defaults.taken of a version of the book's; how many of
 * these. */
unsigned similarity_print_text(const struct similarity_class *c, FILE *f);
