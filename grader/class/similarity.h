/* similarity.h — finds submissions of an exercise that share passages which the book doesn't have;
 * `grader similar` calls it. It compares winnowed fingerprints of token streams, after Schleimer,
 * Wilkerson and Aiken, "Winnowing: Local Algorithms for Document Fingerprinting", SIGMOD 2003. All
 * names are equal tokens, and so are all numbers, so renaming hides nothing. Fingerprints of the
 * starter file, the ladder and the model solution don't count; nor do those that many students
 * have. docs/similarity.md says how reliable the result is. */
#pragma once
#include "common/exercise.h"
#include "grader/class/intake.h"
#include "grader/class/store.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum {
    /* A version of the book's is compared with the texts only if it has at least this many hashes
     * that the starter file lacks. */
    SIMILARITY_MIN_UNIQUE = 40,
    /* Tokens of a fingerprint: a shorter passage is never found. */
    SIMILARITY_KGRAM = 14,
    /* Winnowing keeps one hash of each run of this many positions, so a common passage of
     * SIMILARITY_KGRAM + SIMILARITY_WINDOW - 1 tokens is always found. */
    SIMILARITY_WINDOW = 8,
    SIMILARITY_MAX_PASSAGES = 200
};

struct similarity_token {
    uint32_t code; /* equal for tokens that count as equal, see similarity_tokens.c */
    uint32_t line; /* from 1 */
};
struct similarity_fingerprint {
    uint64_t hash;
    uint32_t first_token; /* index */
};
struct similarity_text {
    char *student, *file;
    unsigned origin; /* 0 = the class; else an earlier year's or a folder of public solutions */
    struct buf source;
    struct similarity_token *tokens;
    /* Sorted by hash, each once; without those that the book has. */
    struct similarity_fingerprint *fingerprints;
    unsigned ntokens, nfingerprints, tokens_capacity, fingerprints_capacity;
    unsigned book_version; /* the version of the book's that it has the largest share of */
    double book_share;     /* the share of that version's unique hashes, 0 to 1; 0 if no version has
                            * SIMILARITY_MIN_UNIQUE */
};
/* The model solution or a step of the ladder, with the hashes of all its k-grams that the starter
 * file lacks, sorted, each once. */
struct similarity_version {
    char *name;
    uint64_t *unique_hashes;
    size_t nunique_hashes, capacity;
};
/* A common passage: its first token in each of the two texts, and its length in tokens. */
struct similarity_passage {
    uint32_t a, b, n;
};
struct similarity_pair {
    unsigned a, b;   /* indices of the texts */
    unsigned common; /* number of common fingerprints */
    double share;    /* `common` relative to the text with fewer fingerprints, 0 to 1 */
};
struct similarity_class {
    const struct exercise *ex;
    struct similarity_text *texts;
    struct similarity_pair *pairs; /* the largest share first */
    unsigned ntexts, npairs, texts_capacity, pairs_capacity;
    unsigned origin;       /* of the texts that similarity_add_text adds from now on */
    uint64_t *book_hashes; /* of the starter file and all versions, sorted */
    size_t nbook_hashes, book_hashes_capacity;
    struct similarity_version *versions;
    unsigned nversions, versions_capacity;
};

struct similarity_options {
    double min_share;       /* of a pair that is reported */
    unsigned min_common;    /* fingerprints of a pair that is reported */
    double max_class_share; /* fingerprints that more of the class has don't count */
    double min_book_share;  /* book_share of a text that is reported as a copy of the book's */
};
extern const struct similarity_options similarity_defaults;

/* Returns the hash of SIMILARITY_KGRAM tokens. */
uint64_t similarity_kgram_hash(const struct similarity_token *t);
int similarity_compare_hashes(const void *a, const void *b); /* for qsort and bsearch */
void similarity_tokenize(const char *s, size_t n, struct similarity_token **tokens, unsigned *count,
                         unsigned *capacity);
/* Loads the book's files of the exercise (similarity_book.c): their hashes don't count between
 * students, and a text may be a copy of one. Call it before similarity_add_text. */
void similarity_load_book(struct similarity_class *c);
/* Sets t->book_version and t->book_share. */
void similarity_match_book(const struct similarity_class *c, struct similarity_text *t);
void similarity_free_book(struct similarity_class *c);
void similarity_add_text(struct similarity_class *c, const char *student, const char *file,
                         const void *source, size_t size);
/* Finds the pairs of which at least one text is of the class. */
void similarity_find_pairs(struct similarity_class *c, const struct similarity_options *o);
/* Finds the passages of a pair, sorted by their start in the first text, none inside another.
 * Returns their number. */
unsigned similarity_find_passages(const struct similarity_class *c, const struct similarity_pair *p,
                                  struct similarity_passage out[SIMILARITY_MAX_PASSAGES]);
void similarity_free(struct similarity_class *c);

/* What the class is compared with besides itself (similarity_against.c): the store of an earlier
 * year, of which it takes the exercise's submissions, or a folder, of which it takes every source,
 * also in archives, whatever its name. */
struct similarity_against {
    const char *path;
    struct store store;
    struct intake sources; /* of a folder */
    bool is_store;
};
/* Reads a folder, or opens a store. `*left_out` counts the files that can't be read. */
bool similarity_open_against(struct similarity_against *g, const char *path, unsigned *left_out,
                             struct err *e);
/* Adds its texts, named after it, to the class, whose `origin` the caller has set. */
bool similarity_add_against(struct similarity_class *c, struct similarity_against *g,
                            struct err *e);
void similarity_close_against(struct similarity_against *g);
/* Adds the submissions of c->ex in a store; `prefix` goes before each student. */
bool similarity_add_store(struct similarity_class *c, struct store *s, const char *prefix,
                          struct err *e);
/* Loads the book's files of c->ex, the class's submissions, and if there are any, also what it is
 * compared with. */
bool similarity_load(struct similarity_class *c, struct store *s, struct similarity_against *list,
                     unsigned n, struct err *e);
/* Returns true if `path` is a store, an SQLite file, and not a folder or archive. */
bool similarity_is_store(const char *path);

/* Pages (similarity_pages.c). The folder gets index.html, a page for each pair, pairs.csv, book.csv
 * with copies of the book's versions, and for other programs sources/ and boilerplate/ with an
 * info.csv for Dolos. */
struct similarity_pages {
    const char *folder;
    struct buf index, pairs_csv, info_csv;
    struct buf book_rows, book_csv; /* texts that copy a version of the book's */
    unsigned pair_count, book_copy_count;
};
/* Write pages of passages that submissions share: begin in a folder, add each exercise, end with
 * the index. */
bool similarity_pages_begin(struct similarity_pages *p, const char *folder, struct err *e);
bool similarity_pages_add(struct similarity_pages *p, const struct similarity_class *c,
                          struct err *e);
bool similarity_pages_end(struct similarity_pages *p, struct err *e);
/* Prints the pairs, then the texts with similarity_defaults.min_book_share of a version of the
 * book's. Returns the number of these texts. */
unsigned similarity_print_text(const struct similarity_class *c, FILE *f);
