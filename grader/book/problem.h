/* problem.h — one case of an exercise as data: inputs drawn, outputs wanted, outputs compared.
 * Knows no device. */
#pragma once
#include "common/arena.h"
#include "common/buf.h"
#include "common/err.h"
#include "common/exercise.h"

#include <stdbool.h>

struct ex_rng {
    uint64_t s[4]; /* xoshiro256** */
};
/* A generator for one purpose: the same seed and texts give the same numbers, any other text other
 * numbers. */
void problem_rng_init(struct ex_rng *r, const char *seed, const char *purpose, unsigned a,
                      unsigned b);

size_t ex_type_bytes(enum ex_type t);

/* One argument's data. A buffer of its own owns `bytes` at `before`; an alias points into its
 * owner's. */
struct operand {
    size_t count, bytes;
    int owner;        /* argument whose buffer this is: itself, or the one it aliases */
    size_t offset;    /* bytes into the owner's buffer */
    bool is_writable; /* the case lets the entry change some of this buffer: an output, or
                     overlapped by one */
    void *initial;    /* as it was before the call */
    void *expected;   /* outputs: double or int64_t for each element */
    void *actual;     /* as read back: in `room`, or `before` where that is the same */
    void *actual_storage;
    struct ex_rng output_rng; /* of an output: what its random bits are drawn from */
    bool is_fill_deferred;    /* they are not in `before`, but where problem_write_random_bits() is
                                 told to put them */
    bool has_expected;        /* `want` was written once */
};

struct problem {
    const struct exercise *ex;
    const struct ex_case *c;
    struct operand op[EX_ARGS];
    struct arena arena;
};

/* Sizes and memory; false where the description makes no sense (an alias outside its buffer). */
bool problem_open(struct problem *p, const struct exercise *ex, const struct ex_case *c,
                  struct err *e);
/* The same in memory that is shared with processes forked later. */
bool problem_open_shared(struct problem *p, const struct exercise *ex, const struct ex_case *c,
                         struct err *e);
/* Lets aliases point into their owners' data, where that is now. */
void problem_resolve_aliases(struct problem *p);
/* Whether the argument has a buffer of its own. */
bool problem_has_buffer(const struct problem *p, unsigned arg);
/* Scalars are drawn once: they are part of what is recorded. */
void problem_draw_scalars(struct problem *p, struct ex_rng *r);
/* Inputs, and random bits for `outputs`, if those will be looked at: for an output that is alone in
 * its buffer only what they are drawn from (`put`), since the place for them is another one. */
void problem_draw_buffers(struct problem *p, struct ex_rng *r, bool outputs);
void problem_write_random_bits(const struct problem *p, unsigned arg, void *to);
/* Fills `want` through the exercise's reference. */
void problem_compute_expected(struct problem *p);
/* True where `after` is right. Else the message lists the first wrong elements, or what was changed
 * that must not be. */
bool problem_compare(const struct problem *p, struct buf *message);
void problem_close(struct problem *p);

/* "rows 33, cols 31" ("33 x 31" where a dimension is no argument), and the label where there is
 * one. */
void problem_case_name(const struct exercise *ex, const struct ex_case *c, struct buf *out);
/* "33 x 31". */
void problem_size_text(const struct exercise *ex, const struct ex_case *c, struct buf *out);

/* ---- drawn cases (draw.c) ---- */

enum { PROBLEM_DRAWN_CASES = 2 };
struct drawn_case {
    struct ex_case c; /* its label is the one below: not to be copied */
    char label[120];
};
/* How many cases are drawn for the exercise: PROBLEM_DRAWN_CASES, or 0 where it says nothing of
 * them. */
unsigned problem_drawn_case_count(const struct exercise *ex);
/* Drawn case `k`, from 0: the same for the same seed and exercise, on every machine. */
void problem_draw_case(const struct exercise *ex, const char *seed, unsigned k,
                       struct drawn_case *out);
/* What the entry is told of the size is what it is told of a listed case, or of the counted or
 * timed one. */
bool problem_is_listed(const struct exercise *ex, const struct ex_case *c);
/* False where the exercise does not say how cases are drawn, or says what makes no sense; appends
 * why. */
bool problem_is_valid_draw(const struct exercise *ex, struct buf *reason);
