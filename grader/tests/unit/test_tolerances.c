/* test_tolerances.c — tests that an element's tolerance depends on the case and the element alone.
 * The comparison asks only for elements that aren't exact, so a tolerance that relies on an earlier
 * question judges by another element's figures. */
#include "grader/book/book.h"
#include "grader/book/problem.h"
#include "grader/tests/unit/unit.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_ELEMENTS = 5000 };

static void draw(struct problem *p, const char *seed) {
    struct ex_rng rng;
    problem_rng_init(&rng, seed, "scalars", 0, 0);
    problem_draw_scalars(p, &rng);
    problem_rng_init(&rng, seed, "buffers", 0, 0);
    problem_draw_buffers(p, &rng, false);
    problem_compute_expected(p);
}

static double tolerance(const struct problem *p, void *const host[], unsigned arg, size_t i) {
    const struct argument *o = &p->arg[arg];
    bool is_integer = p->ex->args[arg].type != EX_F16 && p->ex->args[arg].type != EX_F32 &&
                      p->ex->args[arg].type != EX_F64;
    double expected =
        is_integer ? (double)((const int64_t *)o->expected)[i] : ((const double *)o->expected)[i];
    return p->ex->tolerance(p->c, host, (int)arg, i, expected);
}

/* Asks for all elements forwards, then backwards. */
static void check_output(const struct problem *p, void *const host[], unsigned arg) {
    size_t n = p->arg[arg].count < MOST_ELEMENTS ? p->arg[arg].count : MOST_ELEMENTS;
    double *forwards = xcalloc(n + 1, sizeof *forwards);
    for (size_t i = 0; i < n; i++) forwards[i] = tolerance(p, host, arg, i);
    for (size_t i = n; i-- > 0;) {
        double backwards = tolerance(p, host, arg, i);
        ck_assert_msg(!memcmp(&forwards[i], &backwards, sizeof backwards),
                      "%s, `%s`, element %zu: %.17g after those before it, %.17g after those "
                      "behind it",
                      p->ex->name, p->ex->args[arg].name, i, forwards[i], backwards);
    }
    free(forwards);
}

static void check_case(const struct exercise *ex, const struct ex_case *c, const char *seed) {
    struct problem p;
    struct err e = {0};
    void *host[EX_ARGS];
    ck_assert_msg(problem_open(&p, ex, c, &e), "%s: %s", ex->name, e.text);
    draw(&p, seed);
    problem_host_pointers(&p, host);
    for (unsigned i = 0; i < ex->nargs; i++)
        if (p.arg[i].expected) check_output(&p, host, i);
    problem_close(&p);
}

START_TEST(a_tolerance_depends_on_its_element_alone) {
    for (unsigned i = 0; i < book_count(); i++) {
        const struct exercise *ex = book_at(i);
        for (unsigned k = 0; ex->tolerance && k < ex->ncases; k++)
            check_case(ex, &ex->cases[k], "one"), check_case(ex, &ex->cases[k], "another");
    }
}
END_TEST

UNIT_SUITE(tolerances) {
    Suite *s = suite_create("tolerances");
    TCase *t = tcase_create("tolerances");
    struct err e = {0};
    if (!book_open(&e)) die("%s", e.text);
    tcase_set_timeout(t, 120);
    tcase_add_test(t, a_tolerance_depends_on_its_element_alone);
    suite_add_tcase(s, t);
    return s;
}
