/* test_guesses.c — tests that no guess passes at the sizes that students know: neither the outputs
 * of other inputs, which have the same distribution, nor those of a version that skips a part of
 * the elements and guesses what they add. The sizes drawn from the seed stop what skips at every
 * size; here a submission can recognize the size.
 *
 * The guess is the reference itself, on inputs of which a part was drawn anew. Some case of the
 * exercise's rounds at that size must refuse it. */
#include "grader/book/book.h"
#include "grader/book/problem.h"
#include "grader/tests/unit/unit.h"

#include <string.h>

/* Which elements a guess ignores. */
enum guess { ALL_ELEMENTS, LAST_QUARTER, EVERY_FOURTH, GUESS_COUNT };
static const char *const guess_names[] = {"ignores its inputs", "skips the last quarter",
                                          "skips every fourth element"};

static bool is_ignored(enum guess g, size_t i, size_t count) {
    return g == ALL_ELEMENTS || (g == LAST_QUARTER ? i >= count / 4 * 3 : i % 4 == 3);
}

static bool is_input(const struct problem *p, unsigned i) {
    enum ex_role role = p->ex->args[i].role;
    return (role == EX_IN || role == EX_INOUT) && p->arg[i].owner == (int)i;
}

/* Returns true if a part of the buffer can change without the others. The row starts of a sparse
 * matrix can't. */
static bool has_values(const struct problem *p, unsigned i) {
    bool is_matrix = !strcmp(p->ex->name, "spmv");
    return is_input(p, i) && !(is_matrix && p->ex->args[i].type == EX_I32);
}

static void draw(struct problem *p, const char *seed, unsigned round) {
    struct ex_rng rng;
    problem_rng_init(&rng, "guesses", "scalars", 0, 0);
    problem_draw_scalars(p, &rng);
    problem_rng_init(&rng, seed, "buffers", 0, round);
    rng.round = round, rng.case_key = 0x123456789abcdef;
    problem_draw_buffers(p, &rng, false);
}

/* Gives `guess` the inputs of `truth`, but for the elements that it ignores. */
static void copy_known_elements(const struct problem *truth, struct problem *guess, enum guess g) {
    for (unsigned i = 0; i < truth->ex->nargs; i++) {
        size_t width = ex_type_bytes(truth->ex->args[i].type), count = truth->arg[i].count;
        char *to = guess->arg[i].initial, *from = truth->arg[i].initial;
        if (!is_input(truth, i) || g == ALL_ELEMENTS) continue;
        for (size_t k = 0; k < count; k++)
            if (!has_values(truth, i) || !is_ignored(g, k, count))
                memcpy(to + k * width, from + k * width, width);
    }
}

static void round_output(const struct problem *from, struct problem *to, unsigned arg) {
    const double *d = from->arg[arg].expected;
    const int64_t *w = from->arg[arg].expected;
    for (size_t i = 0; i < from->arg[arg].count; i++) switch (from->ex->args[arg].type) {
#define X(id, type, name)                                                                          \
    case id:                                                                                       \
        ((type *)to->arg[arg].actual)[i] = id == EX_F32 || id == EX_F64 ? (type)d[i] : (type)w[i]; \
        break;
            EX_C_TYPES(X)
#undef X
        case EX_F16: ((ex_half *)to->arg[arg].actual)[i] = ex_half_from_double(d[i]); break;
        }
}

static bool accepts(struct problem *truth, const struct problem *guess) {
    struct buf message = {0};
    for (unsigned i = 0; i < truth->ex->nargs; i++) {
        struct argument *o = &truth->arg[i];
        if (o->expected) round_output(guess, truth, i);
        else if (truth->ex->args[i].role != EX_SCALAR && o->owner == (int)i && o->bytes)
            memcpy(o->actual, o->initial, o->bytes);
    }
    bool ok = problem_compare(truth, &message);
    buf_free(&message);
    return ok;
}

static bool passes_round(const struct exercise *ex, const struct ex_case *c, enum guess g,
                         unsigned round) {
    struct problem truth, guess;
    struct err e = {0};
    ck_assert_msg(problem_open(&truth, ex, c, &e), "%s", e.text);
    ck_assert_msg(problem_open(&guess, ex, c, &e), "%s", e.text);
    draw(&truth, "truth", round);
    draw(&guess, "guess", round);
    copy_known_elements(&truth, &guess, g);
    problem_compute_expected(&truth);
    problem_compute_expected(&guess);
    bool ok = accepts(&truth, &guess);
    problem_close(&truth);
    problem_close(&guess);
    return ok;
}

static bool passes(const struct exercise *ex, const struct ex_case *c, enum guess g) {
    bool ok = true;
    for (unsigned round = 0; ok && (!round || round < ex->known_size_rounds); round++)
        ok = passes_round(ex, c, g, round);
    return ok;
}

static bool keeps_initial_content(const struct exercise *ex) {
    for (unsigned i = 0; i < ex->nargs; i++)
        if (ex->args[i].is_initial_in_expected) return false;
    return true;
}

/* Without input buffers there is nothing to guess. */
static bool has_inputs(const struct exercise *ex) {
    bool any = false;
    for (unsigned i = 0; i < ex->nargs; i++)
        any |= ex->args[i].role == EX_IN || ex->args[i].role == EX_INOUT;
    return any && keeps_initial_content(ex);
}

static void check_guesses(const struct exercise *ex, const struct ex_case *c, const char *size) {
    for (enum guess g = 0; g < GUESS_COUNT && has_inputs(ex); g++)
        ck_assert_msg(!passes(ex, c, g), "%s, %s: a version passes that %s", ex->name, size,
                      guess_names[g]);
}

START_TEST(no_guess_passes_at_the_technique_size) {
    for (unsigned i = 0; i < book_count(); i++)
        check_guesses(book_at(i), &book_at(i)->technique_case, "technique size");
}
END_TEST

START_TEST(no_guess_passes_at_the_timed_size) {
    const struct exercise *ex = book_at((unsigned)_i);
    check_guesses(ex, &ex->timed_case, "timed size");
}
END_TEST

UNIT_SUITE(guesses) {
    Suite *s = suite_create("guesses");
    TCase *technique = tcase_create("technique"), *timed = tcase_create("timed");
    struct err e = {0};
    if (!book_open(&e)) die("%s", e.text);
    tcase_set_timeout(technique, 300);
    tcase_add_test(technique, no_guess_passes_at_the_technique_size);
    suite_add_tcase(s, technique);
    tcase_set_timeout(timed, 900);
    tcase_set_tags(timed, "long");
    tcase_add_loop_test(timed, no_guess_passes_at_the_timed_size, 0, (int)book_count());
    suite_add_tcase(s, timed);
    return s;
}
