/* test_drawn_cases.c — tests cases whose sizes come from the seed (book/draw.c): they depend on
 * the seed alone, satisfy the exercise's constraints, spread over the range, and catch a
 * submission that hard-codes the listed sizes. */
#include "grader/book/book.h"
#include "grader/book/problem.h"
#include "grader/class/grade_many.h"
#include "grader/cli/path_evasion.h"
#include "grader/jail/jail.h"
#include "grader/tests/plus_one.h"
#include "grader/tests/unit/shell.h"
#include "grader/tests/unit/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- an exercise: out[i] = in[i] + 1 ---- */

static const struct ex_arg args[] = PLUS_ONE_ARGS();
START_TEST(one_launch) { ex_require_at_most("launches", 1, "one is enough"); }
END_TEST
static void tests(TCase *correctness, TCase *goals, TCase *guards) {
    tcase_add_loop_test(correctness, right, 0, 3);
    tcase_add_test(goals, one_launch);
    (void)guards;
}
static const struct exercise plus_one = {.name = "plus_one",
                                         .chapter = "99-test",
                                         .title = "adds one",
                                         .args = args,
                                         .nargs = 3,
                                         .cases = cases,
                                         .ncases = 3,
                                         .draw = {.dim = {{1, 500}}},
                                         .technique_case = {.dim = {1024}},
                                         .timed_case = {.dim = {1 << 16}},
                                         .reference = reference,
                                         .points = {.technique = 60, .speed = 40},
                                         .tests = tests};

static const char *seed_of(unsigned n) {
    static char text[32];
    snprintf(text, sizeof text, "seed %u", n);
    return text;
}

/* ---- what is drawn ---- */

START_TEST(sizes_depend_only_on_the_seed) {
    unsigned unlike = 0, apart = 0;
    for (unsigned i = 0; i < 100; i++) {
        struct drawn_case a, again, other, next;
        problem_draw_case(&plus_one, seed_of(i), 0, &a);
        problem_draw_case(&plus_one, seed_of(i), 0, &again);
        problem_draw_case(&plus_one, seed_of(i + 1), 0, &other);
        problem_draw_case(&plus_one, seed_of(i), 1, &next);
        ck_assert_int_eq(a.c.dim[0], again.c.dim[0]);
        unlike += a.c.dim[0] != other.c.dim[0], apart += a.c.dim[0] != next.c.dim[0];
    }
    ck_assert_uint_gt(unlike, 90); /* of sizes up to 500, a few are equal by chance */
    ck_assert_uint_gt(apart, 90);
}
END_TEST

/* From a second program that follows the rule: SHA-256, xoshiro256** and the arithmetic of draw.c,
 * written anew in Python. */
START_TEST(sizes_are_those_of_a_second_program) {
    static const struct exercise box = {
        .name = "box",
        .chapter = "99-test",
        .draw = {.dim = {{1, 300}, {0, 64}, {2, 90}}, .max_product = 40000}};
    static const long line[4][2] = {{43, 12}, {35, 334}, {2, 416}, {2, 485}};
    static const long boxes[4][2][3] = {{{21, 7, 5}, {258, 35, 4}},
                                        {{127, 0, 30}, {71, 1, 31}},
                                        {{6, 47, 73}, {48, 4, 32}},
                                        {{6, 2, 12}, {148, 1, 12}}};
    for (unsigned i = 0; i < 8; i++) {
        struct drawn_case d;
        problem_draw_case(&plus_one, seed_of(i / 2), i % 2, &d);
        ck_assert_int_eq(d.c.dim[0], line[i / 2][i % 2]);
        problem_draw_case(&box, seed_of(i / 2), i % 2, &d);
        for (unsigned k = 0; k < 3; k++) ck_assert_int_eq(d.c.dim[k], boxes[i / 2][i % 2][k]);
    }
}
END_TEST

/* Orders of magnitude: 1 to 500 has nine numbers of bits, so 3 of 9 draws are below 8, 2 of 9 from
 * 128 on. Evenly spread: 372 of 500 are 129 or more. The bounds leave five standard deviations of
 * 1000 draws. */
START_TEST(drawn_sizes_span_orders_of_magnitude) {
    unsigned small = 0, large = 0, even_large = 0, odd = 0, plain = 0, multiple_count = 0;
    for (unsigned i = 0; i < 1000; i++) {
        struct drawn_case any, even;
        problem_draw_case(&plus_one, seed_of(i), 0, &any);
        problem_draw_case(&plus_one, seed_of(i), 1, &even);
        long n = any.c.dim[0], m = even.c.dim[0];
        small += n < 8, large += n >= 128, even_large += m >= 129, odd += n & 1;
        multiple_count += m % 32 == 0;
        long near = 1;
        while (near * 3 / 2 < m) near *= 2;
        plain += labs(m - near) > 3;
    }
    ck_assert_msg(small > 250 && small < 420, "%u", small);
    ck_assert_msg(large > 150 && large < 300, "%u", large);
    ck_assert_msg(even_large > 670 && even_large < 820, "%u", even_large);
    ck_assert_msg(odd > 420 && odd < 620, "%u", odd); /* a half, and the sixth more that is 1 */
    ck_assert_msg(plain > 800, "%u", plain);
    ck_assert_msg(multiple_count > 180 && multiple_count < 360, "%u",
                  multiple_count); /* a quarter, and a 32nd of the rest */
}
END_TEST

static void check_spans(const struct exercise *ex, const struct ex_case *c, const char *seed) {
    long product = 1;
    for (unsigned i = 0; i < EX_DIMS; i++) {
        const struct ex_span *s = &ex->draw.dim[i];
        if (s->high > 0)
            ck_assert_msg(c->dim[i] >= s->low && c->dim[i] <= s->high,
                          "%s, %s: dimension %u is %ld", ex->name, seed, i, c->dim[i]);
        if (s->high > 0 && c->dim[i] > 1) product *= c->dim[i];
    }
    ck_assert_msg(!ex->draw.max_product || product <= ex->draw.max_product, "%s, %s: product %ld",
                  ex->name, seed, product);
    ck_assert_msg(!problem_is_listed(ex, c), "%s, %s: a listed size", ex->name, seed);
    ck_assert_msg(c->variant == 0 || ex->draw.variants[c->variant], "%s, %s: variant %d", ex->name,
                  seed, c->variant);
}

/* Each size is legal, and problem_open lays it out: aliases lie inside their owners. */
START_TEST(drawn_sizes_of_every_exercise_lie_within_its_spans) {
    struct err e = {0};
    struct buf reason = {0};
    ck_assert_msg(book_open(&e), "%s", e.text);
    for (unsigned i = 0; i < book_count(); i++) {
        const struct exercise *ex = book_at(i);
        ck_assert_msg(problem_check_drawn_cases(ex, &reason), "%s: %s", ex->name, buf_str(&reason));
        for (unsigned k = 0; k < 200; k++) {
            struct drawn_case d;
            struct problem p;
            problem_draw_case(ex, seed_of(k / 2), k % 2, &d);
            check_spans(ex, &d.c, seed_of(k / 2));
            ck_assert_msg(problem_open(&p, ex, &d.c, &e), "%s: %s", ex->name, e.text);
            problem_close(&p);
        }
    }
    ck_assert_uint_gt(book_count(), 30);
}
END_TEST

static void check_index_range(const struct exercise *ex, const struct ex_case *c) {
    for (unsigned i = 0; i < ex->nargs; i++)
        if (ex->args[i].count)
            ck_assert_msg(ex->args[i].count(c) <= INT32_MAX, "%s: `%s` has %zu elements", ex->name,
                          ex->args[i].name, ex->args[i].count(c));
}

/* docs/student-guide.md promises that an int can hold an index; intensity.md, that it can hold the
 * numbers of operations and bytes: 2 n steps and 12 n. */
START_TEST(an_int_holds_every_index) {
    struct err e = {0};
    ck_assert_msg(book_open(&e), "%s", e.text);
    for (unsigned i = 0; i < book_count(); i++) {
        const struct exercise *ex = book_at(i);
        for (unsigned k = 0; k < ex->ncases; k++) check_index_range(ex, &ex->cases[k]);
        check_index_range(ex, &ex->technique_case);
        check_index_range(ex, &ex->timed_case);
        if (strcmp(ex->name, "intensity")) continue;
        ck_assert(2 * ex->timed_case.dim[0] * ex->timed_case.dim[1] <= INT32_MAX);
        ck_assert(12 * ex->timed_case.dim[0] <= INT32_MAX);
        ck_assert(2 * ex->draw.dim[0].high * ex->draw.dim[1].high <= INT32_MAX);
    }
}
END_TEST

START_TEST(drawn_sizes_respect_steps_and_powers) {
    static const struct exercise ex = {
        .name = "stepped",
        .draw = {.dim = {{4, 100, .step = 4}, {3, 40, .power_of_two = 1}, {0, 9}}}};
    bool seen[41] = {false};
    for (unsigned k = 0; k < 400; k++) {
        struct drawn_case d;
        problem_draw_case(&ex, seed_of(k), k % 2, &d);
        ck_assert_int_eq(d.c.dim[0] % 4, 0);
        check_spans(&ex, &d.c, seed_of(k));
        seen[d.c.dim[1]] = true;
        ck_assert_int_eq(d.c.dim[3], 0);
    }
    for (int i = 0; i <= 40; i++) ck_assert_int_eq(seen[i], i == 4 || i == 8 || i == 16 || i == 32);
}
END_TEST

static void second_is_below_first(struct ex_case *c, struct ex_rng *r) {
    c->dim[1] = ex_uniform_int(r, 0, c->dim[0] - 1);
}

START_TEST(the_adjust_function_constrains_drawn_sizes) {
    static const struct exercise ex = {.name = "adjusted",
                                       .draw = {.dim = {{1, 50}},
                                                .variants = {"", "upside down"},
                                                .adjust = second_is_below_first}};
    unsigned turned = 0;
    for (unsigned k = 0; k < 100; k++) {
        struct drawn_case d;
        problem_draw_case(&ex, seed_of(k), k % 2, &d);
        ck_assert(d.c.dim[1] < d.c.dim[0]);
        turned += d.c.variant;
        ck_assert_str_eq(d.c.label,
                         d.c.variant ? "drawn from the seed, upside down" : "drawn from the seed");
    }
    ck_assert(turned > 25 && turned < 75);
}
END_TEST

static bool is_valid_draw(struct ex_draw d) {
    struct buf reason = {0};
    struct exercise ex = {.name = "rule", .draw = d};
    bool ok = problem_check_drawn_cases(&ex, &reason);
    ck_assert(ok == !reason.size);
    buf_free(&reason);
    return ok;
}

START_TEST(every_exercise_draws_sizes_or_gives_a_reason) {
    ck_assert(!is_valid_draw((struct ex_draw){0}));
    ck_assert(!is_valid_draw((struct ex_draw){.no_draw_reason = ""}));
    ck_assert(is_valid_draw((struct ex_draw){.no_draw_reason = "its only size is 1"}));
    ck_assert(is_valid_draw((struct ex_draw){.dim = {{1, 9}}}));
    ck_assert(!is_valid_draw((struct ex_draw){.dim = {{1, 9}}, .no_draw_reason = "why"}));
    ck_assert(!is_valid_draw((struct ex_draw){.dim = {{1, 9}, {7, 3}}}));
    ck_assert(!is_valid_draw((struct ex_draw){.dim = {{-1, 9}}}));
    ck_assert(!is_valid_draw((struct ex_draw){.dim = {{9, 15, .power_of_two = 1}}}));
    ck_assert(is_valid_draw((struct ex_draw){.dim = {{9, 16, .power_of_two = 1}}}));
    ck_assert(!is_valid_draw((struct ex_draw){.dim = {{10, 20}, {10, 20}}, .max_product = 99}));
}
END_TEST

/* ---- what is graded ---- */

#define KERNEL                                                                                    \
    "__global__ void k(int *out, const int *in, int n) { int i = blockIdx.x * 64 + threadIdx.x; " \
    "if (i < n) out[i] = "                                                                        \
    "in[i] + "
#define ENTRY(add)                                                                                \
    KERNEL add "; }\nextern \"C\" void plus_one(int *out, const int *in, int n) { if (n) k<<<(n " \
               "+ 63) / 64, "                                                                     \
               "64>>>(out, in, n); }\n"

static bool by_file;

static void grade(const char *source, unsigned only, struct result *r) {
    struct buf text = {0};
    struct err e = {0};
    struct grade_options o = {.device = device_find("h200"),
                              .seed = "drawn",
                              .no_speed = true,
                              .only_case = only,
                              .size_seed_includes_source = by_file};
    struct grade_item item = {.ex = &plus_one, .name = "plus_one.cu", .source = &text};
    ck_assert_msg(book_open(&e) && jail_probe(&e), "%s", e.text);
    buf_puts(&text, source);
    ck_assert_msg(class_grade_many(&item, 1, 1, &o, r, &e), "%s", e.text);
    buf_free(&text);
}

START_TEST(a_version_with_hardcoded_sizes_is_detected) {
    struct buf solution = {0}, hardcoded = {0}, reason = {0};
    struct result solution_result, r;
    buf_puts(&solution, ENTRY("1"));
    hardcoded_sizes_source(&plus_one, &solution, &hardcoded);
    grade(buf_str(&solution), 0, &solution_result);
    ck_assert_int_eq(solution_result.verdict, V_AC);
    ck_assert_uint_eq(solution_result.ncases,
                      6); /* three listed, two drawn, the one that is counted */
    grade(buf_str(&hardcoded), 0, &r);
    ck_assert_int_eq(r.verdict, V_WA);
    for (unsigned i = 0; i < 5; i++) {
        ck_assert_int_eq(r.cases[i].verdict, i < 3 ? V_AC : V_WA);
        ck_assert_uint_eq(r.cases[i].number, i + 1);
        ck_assert_int_eq(r.cases[i].drawn, i >= 3);
        if (i >= 3)
            ck_assert(strstr(r.cases[i].name, "n ") &&
                      strstr(r.cases[i].name, ": drawn from the seed"));
    }
    ck_assert_msg(hardcoded_sizes_are_detected(&plus_one, &r, &reason), "%s", buf_str(&reason));
    ck_assert(!hardcoded_sizes_are_detected(
        &plus_one, &solution_result,
        &reason)); /* a version that passes a drawn case is no such exploit */
    result_free(&solution_result), result_free(&r);
    buf_free(&solution), buf_free(&hardcoded), buf_free(&reason);
}
END_TEST

/* A submission that is wrong everywhere, so that each message shows some of the inputs, those of
 * the whole run. */
START_TEST(a_single_case_equals_the_same_case_of_a_full_run) {
    struct result all_cases, one;
    grade(ENTRY("2"), 0, &all_cases);
    ck_assert_uint_eq(all_cases.ncases, 5);
    for (unsigned number = 2; number <= 5; number++) {
        grade(ENTRY("2"), number, &one);
        ck_assert_uint_eq(one.ncases, 1);
        ck_assert_uint_eq(one.cases[0].number, number);
        ck_assert_str_eq(one.cases[0].name, all_cases.cases[number - 1].name);
        ck_assert_str_eq(one.cases[0].message, all_cases.cases[number - 1].message);
        result_free(&one);
    }
    result_free(&all_cases);
}
END_TEST

/* One file twice, and one that differs by a comment. */
START_TEST(drawn_sizes_change_with_the_source_if_seeded_by_it) {
    struct result r[3];
    by_file = _i;
    for (unsigned i = 0; i < 3; i++)
        grade(i < 2 ? ENTRY("1") : ENTRY("1") "// n is 55, too\n", 0, &r[i]);
    by_file = false;
    ck_assert_str_eq(r[0].cases[4].name, r[1].cases[4].name);
    ck_assert_int_eq(!strcmp(r[0].cases[4].name, r[2].cases[4].name), !_i);
    for (unsigned i = 0; i < 3; i++) {
        ck_assert_int_eq(r[i].verdict, V_AC);
        result_free(&r[i]);
    }
}
END_TEST

#define RUN "%s/grader run transpose --seed abc --file "
/* The mutant skips elements outside whole tiles of 32 x 32; at this seed a matrix of two drawn
 * sizes has such elements. */
#define MUTANT "grader/tests/mutants/02-coalescing/transpose/whole-tiles-only.cu"

START_TEST(the_report_says_how_to_repeat_a_drawn_size) {
    const char *at = build_folder();
    ck_assert_int_eq(shell(RUN MUTANT " | grep -q -- 'run transpose --file " MUTANT
                                      " --seed abc --case 13$'",
                           at),
                     0);
    ck_assert_int_eq(shell(RUN MUTANT " --case 13 | grep -q ' drawn from the seed$'", at), 0);
    ck_assert_int_eq(shell(RUN MUTANT " --case 8 | grep -q 'run this size again'", at),
                     1); /* one tile: right */
    ck_assert_int_eq(
        shell(RUN MUTANT " --case 15 2>&1 | grep -q -- '--case 15: transpose has 14 cases'", at),
        0);
}
END_TEST

UNIT_SUITE(drawn_cases) {
    Suite *s = suite_create("drawn_cases");
    TCase *t = tcase_create("drawn");
    tcase_set_timeout(t, 120);
    tcase_add_test(t, sizes_depend_only_on_the_seed);
    tcase_add_test(t, sizes_are_those_of_a_second_program);
    tcase_add_test(t, drawn_sizes_span_orders_of_magnitude);
    tcase_add_test(t, drawn_sizes_of_every_exercise_lie_within_its_spans);
    tcase_add_test(t, an_int_holds_every_index);
    tcase_add_test(t, drawn_sizes_respect_steps_and_powers);
    tcase_add_test(t, the_adjust_function_constrains_drawn_sizes);
    tcase_add_test(t, every_exercise_draws_sizes_or_gives_a_reason);
    tcase_add_test(t, a_version_with_hardcoded_sizes_is_detected);
    tcase_add_test(t, a_single_case_equals_the_same_case_of_a_full_run);
    tcase_add_loop_test(t, drawn_sizes_change_with_the_source_if_seeded_by_it, 0, 2);
    tcase_add_test(t, the_report_says_how_to_repeat_a_drawn_size);
    suite_add_tcase(s, t);
    return s;
}
