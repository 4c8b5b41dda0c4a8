/* vary.h — variants of an exercise for exams: chapters/NN-slug/NAME.vary, beside the exercise.
 *
 *     # a comment
 *     operation NAME: what differs from the exercise
 *     `text` ==> `other text`
 *     size NAME: …
 *
 * A variant is one operation and, if the file has sizes, one size. Each line with ==> replaces a
 * text in all files of the exercise: task, starter file, tests, model solution, ladder, mutants.
 * "\n" in the new text is a line break. A text that no file has is an error. */
#pragma once
#include "common/buf.h"
#include "common/err.h"
#include "common/hash.h"
#include "grader/class/assignment.h"

#include <stdbool.h>

struct vary_rule {
    char *from, *to;
    bool is_used;
};
struct vary_choice {
    bool is_size;
    char name[32];
    char *description;
    struct vary_rule *rules;
    unsigned n, capacity;
};
struct vary_list {
    struct vary_choice *choices;
    unsigned n, capacity;
};

/* Parses a file; errors name the line. The caller frees `list` in any case. */
bool vary_parse(const char *text, struct vary_list *list, struct err *e);
void vary_free(struct vary_list *list);
/* Sets the operation and the size (NULL if there is none) that the seed selects. The same seed
 * always selects the same. */
void vary_select(const struct vary_list *list, const char *seed, struct vary_choice *chosen[2]);
/* Sets the operation and the size of the variant `number`, from 1, of those that the seed draws for
 * the exercise `id`. Each number has another operation; false if the file has fewer. */
bool vary_draw(const struct vary_list *list, const char *seed, const char *id, unsigned number,
               struct vary_choice *chosen[2]);
/* Applies the rules in one pass, so that none changes another's text; true if one applied. */
bool vary_apply(struct vary_choice *const chosen[2], const char *text, struct buf *out);

/* Reads the book's NAME.vary. An error names the exercises that have one. */
bool vary_read_book(const struct exercise *ex, struct vary_list *list, struct err *e);
/* A varied copy of the book says in chapters/variants.txt which exercises are variants:
 * "07-fusion/scale_add minus large", without the seed. A copy for some students of a class
 * (assignment_draw.h) begins with "copy NUMBER of DIGEST", the digest of the grader that wrote it.
 * Students never get that file. vary_record adds a line for `ex` to the book's list and
 * writes it into `folder`. */
bool vary_record(const char *folder, const struct exercise *ex, struct vary_choice *const chosen[2],
                 struct err *e);
bool vary_record_copy(const char *folder, unsigned number, struct err *e);
/* Returns this book's number as such a copy, 0 = it is none; `origin`, if not NULL, becomes the
 * digest of the grader that wrote it. */
unsigned vary_copy_number(char origin[HASH_HEX_SIZE]);
/* Returns false if the assignment names a variant that this book, or the copies for its
 * students, don't have. */
bool vary_check_assignment(const struct assignment *a, struct err *e);
