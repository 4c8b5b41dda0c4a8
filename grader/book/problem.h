/* problem.h — a problem is the data of one case of an exercise: draws inputs, computes expected
 * outputs, compares outputs. It knows nothing of devices. */
#pragma once
#include "common/arena.h"
#include "common/buf.h"
#include "common/err.h"
#include "common/exercise.h"

#include <stdbool.h>

struct ex_rng {
    uint64_t s[4];     /* xoshiro256** */
    uint64_t case_key; /* ex_stratum's secret: the same in all rounds of a case */
    unsigned round;
};
/* Initializes a generator for one purpose: a name for what is drawn, such as the exercise's id, the
 * index of the case and a part of it. Equal arguments give equal numbers; any difference gives
 * unrelated numbers. */
void problem_rng_init(struct ex_rng *r, const char *seed, const char *purpose, unsigned index,
                      unsigned part);

size_t ex_type_bytes(enum ex_type t);

/* One argument's data. An argument owns its buffer, or is an alias into the buffer of another.
 * Outputs start as random bits, so that an element which the entry does not write is wrong. */
struct argument {
    size_t count, bytes;
    int owner;        /* argument that owns the buffer: itself, or the one that it aliases */
    size_t offset;    /* bytes into the owner's buffer */
    bool is_writable; /* the argument is an output, or an output shares bytes with it */
    void *initial;    /* content before the call */
    void *expected;   /* outputs: double or int64_t for each element */
    /* Content after the call: points to `actual_storage`, or to `initial` if that is unchanged. */
    void *actual;
    void *actual_storage;
    struct ex_rng output_rng; /* generator of an output's random bits */
    /* `initial` lacks the random bits: the caller writes them to the device, with
     * problem_write_random_bits(). */
    bool are_random_bits_deferred;
    bool has_expected; /* `expected` holds results: problem_compute_expected() zeroes it first */
};

struct problem {
    const struct exercise *ex;
    const struct ex_case *c;
    struct argument arg[EX_ARGS];
    struct arena arena;
};

/* Computes sizes, allocates memory. Returns false if the exercise is invalid, such as an alias
 * outside its buffer. Free with problem_close. */
bool problem_open(struct problem *p, const struct exercise *ex, const struct ex_case *c,
                  struct err *e);
/* Makes aliases point into their owners' data. Call it after an owner's `initial` or `actual`
 * moved. */
void problem_resolve_aliases(struct problem *p);
/* Returns true if the argument owns a buffer. */
bool problem_owns_buffer(const struct problem *p, unsigned arg);
/* Draws the scalars. Call it once for a case: replays use the values that were recorded. */
void problem_draw_scalars(struct problem *p, struct ex_rng *r);
/* Draws inputs and, with `outputs`, random bits for outputs. For an output without aliases it only
 * saves the generator (`output_rng`): the caller writes the bits, with problem_write_random_bits.
 */
void problem_draw_buffers(struct problem *p, struct ex_rng *r, bool outputs);
/* Fills with random bits. Several calls give the bits of one call for all bytes, if every piece but
 * the last is a multiple of 8 bytes. */
void problem_fill_random_bits(struct ex_rng *r, void *data, size_t bytes);
/* Writes the random bits of an output with are_random_bits_deferred. */
void problem_write_random_bits(const struct problem *p, unsigned arg, void *to);
/* Gives back the memory of the operands' initial contents, which are undefined until they are drawn
 * again. */
void problem_release_initial(struct problem *p);
/* Sets what the exercise's functions get as `host`: each argument's initial content; NULL for one
 * that the reference finds in `expected` (is_initial_in_expected). */
void problem_host_pointers(const struct problem *p, void *host[EX_ARGS]);
/* Computes `expected` with the exercise's reference. */
void problem_compute_expected(struct problem *p);
/* Returns true if `actual` is correct. Otherwise appends the first wrong elements, or the changed
 * input, to the message. */
bool problem_compare(const struct problem *p, struct buf *message);
void problem_close(struct problem *p);

/* Appends the sizes, as "rows 33, cols 31", and the label if there is one. The sizes have no names
 * ("33 x 31") if the entry does not get each of them as an argument. */
void problem_append_case_name(const struct exercise *ex, const struct ex_case *c, struct buf *out);
/* Appends the sizes alone: "33 x 31". */
void problem_append_size(const struct exercise *ex, const struct ex_case *c, struct buf *out);

/* ---- drawn cases (draw.c) ---- */

enum { PROBLEM_DRAWN_CASES = 2 };
struct drawn_case {
    struct ex_case c; /* its label points to the array below, so don't copy the struct */
    char label[120];
};
/* Returns the number of drawn cases: PROBLEM_DRAWN_CASES, or 0 if the exercise defines none. */
unsigned problem_drawn_case_count(const struct exercise *ex);
/* Draws case `k`, from 0. Equal seeds give equal cases, on every machine. */
void problem_draw_case(const struct exercise *ex, const char *seed, unsigned k,
                       struct drawn_case *out);
/* Returns true if the entry gets the same size arguments as in a case that students can read: one
 * of the exercise's list, the technique case or the timed case. */
bool problem_is_listed(const struct exercise *ex, const struct ex_case *c);
/* Checks the exercise's definition of drawn cases. Returns false, and appends the reason, if the
 * exercise has no such definition or an inconsistent one. */
bool problem_check_drawn_cases(const struct exercise *ex, struct buf *reason);
