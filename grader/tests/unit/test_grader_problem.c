/* test_grader_problem.c — tests drawing inputs, placing aliases and comparing outputs, on
 * exercises defined here. */
#include "grader/book/problem.h"
#include "grader/tests/unit/unit.h"

#include <math.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static size_t count(const struct ex_case *c) { return (size_t)c->dim[0] * (size_t)c->dim[1]; }
static void doubled(const struct ex_case *c, void *const host[], void *const expected[]) {
    for (size_t i = 0; i < count(c); i++)
        ((double *)expected[0])[i] = 2.0 * ((const float *)host[1])[i];
}
static double loose_tolerance(const struct ex_case *c, void *const host[], int arg, size_t i,
                              double expected) {
    (void)c, (void)host, (void)arg, (void)i, (void)expected;
    return 0.5;
}
static const struct ex_arg float_args[] = {
    {.name = "out", .role = EX_OUT, .type = EX_F32, .count = count, .shape = {1, 2}},
    {.name = "in", .role = EX_IN, .type = EX_F32, .count = count},
    {.name = "n", .role = EX_SCALAR, .type = EX_I32, .dim = 1},
};
static const struct exercise floats = {
    .name = "floats", .args = float_args, .nargs = 3, .reference = doubled};
static const struct exercise tolerant = {.name = "floats",
                                         .args = float_args,
                                         .nargs = 3,
                                         .reference = doubled,
                                         .tolerance = loose_tolerance};
static const struct ex_case two_by_three = {.dim = {2, 3}};

static struct ex_rng seeded(unsigned n) {
    struct ex_rng r;
    problem_rng_init(&r, "test", "problem", n, 0);
    return r;
}

/* A solved problem whose outputs are right. */
static void make(struct problem *p, const struct exercise *ex, const struct ex_case *c) {
    struct err e = {0};
    struct ex_rng r = seeded(1);
    ck_assert_msg(problem_open(p, ex, c, &e), "%s", e.text);
    problem_draw_scalars(p, &r);
    problem_draw_buffers(p, &r, true);
    problem_compute_expected(p);
    for (unsigned i = 0; i < ex->nargs; i++)
        if (p->arg[i].owner == (int)i) memcpy(p->arg[i].actual, p->arg[i].initial, p->arg[i].bytes);
    for (size_t i = 0; i < p->arg[0].count; i++)
        ((float *)p->arg[0].actual)[i] = 2 * ((float *)p->arg[1].initial)[i];
}

/* Reference values: xoshiro256** with state 1, 2, 3, 4, from the authors' published C code. */
START_TEST(generator_is_xoshiro) {
    struct ex_rng r = {{1, 2, 3, 4}};
    ck_assert_uint_eq(ex_random(&r), 11520);
    ck_assert_uint_eq(ex_random(&r), 0);
    ck_assert_uint_eq(ex_random(&r), 1509978240);
    ck_assert_uint_eq(ex_random(&r), 1215971899390074240ull);
}
END_TEST

START_TEST(ranges_are_held) {
    struct ex_rng r = seeded(2);
    bool low = false, high = false;
    for (int i = 0; i < 2000; i++) {
        long v = ex_uniform_int(&r, -3, 4);
        ck_assert(v >= -3 && v <= 4);
        low |= v == -3, high |= v == 4;
        double u = ex_uniform(&r, -1, 1);
        ck_assert(u >= -1 && u < 1);
    }
    ck_assert(low && high);
}
END_TEST

START_TEST(different_seeds_give_different_inputs) {
    struct ex_rng a = seeded(3), b = seeded(3), c = seeded(4);
    ck_assert_uint_eq(ex_random(&a), ex_random(&b));
    ck_assert_uint_ne(ex_random(&a), ex_random(&c));
}
END_TEST

START_TEST(right_output_passes) {
    struct problem p;
    struct buf m = {0};
    make(&p, &floats, &two_by_three);
    ck_assert_int_eq(*(int *)p.arg[2].initial, 3);
    ck_assert(problem_compare(&p, &m));
    ck_assert_uint_eq(m.size, 0);
    problem_close(&p);
}
END_TEST

START_TEST(wrong_element_is_named) {
    struct problem p;
    struct buf m = {0};
    make(&p, &floats, &two_by_three);
    ((float *)p.arg[0].actual)[4] = 7.5f;
    ck_assert(!problem_compare(&p, &m));
    ck_assert_ptr_nonnull(strstr(buf_str(&m), "1 of 6 elements of `out`"));
    ck_assert_ptr_nonnull(strstr(buf_str(&m), "out[1][1]")); /* element 4 of rows of 3 */
    ck_assert_ptr_nonnull(strstr(buf_str(&m), "got 7.5"));
    buf_free(&m);
    problem_close(&p);
}
END_TEST

/* A key of 32 bits, whose highest bit is set, and a payload. */
static void packed(const struct ex_case *c, void *const host[], void *const expected[]) {
    (void)host;
    for (size_t i = 0; i < count(c); i++) ((uint64_t *)expected[0])[i] = 0x89abcdef00000000 + i + 1;
}

START_TEST(packed_words_are_shown_in_hexadecimal) {
    static const struct ex_arg word_args[] = {
        {.name = "out", .role = EX_OUT, .type = EX_U64, .count = count},
        {.name = "in", .role = EX_IN, .type = EX_F32, .count = count},
    };
    static const struct exercise words = {
        .name = "words", .args = word_args, .nargs = 2, .reference = packed};
    struct problem p;
    struct buf m = {0};
    make(&p, &words, &(struct ex_case){.dim = {1, 1}});
    *(uint64_t *)p.arg[0].actual = 0x0123456700000002;
    ck_assert(!problem_compare(&p, &m));
    ck_assert_ptr_nonnull(
        strstr(buf_str(&m), "got 0x0123456700000002 expected 0x89abcdef00000001"));
    buf_free(&m);
    problem_close(&p);
}
END_TEST

START_TEST(an_unwritten_element_is_reported) {
    struct problem p;
    struct buf m = {0};
    make(&p, &floats, &two_by_three);
    float bits[6];
    problem_write_random_bits(&p, 0, bits);
    memcpy((float *)p.arg[0].actual + 5, bits + 5, 4);
    ck_assert(!problem_compare(&p, &m));
    ck_assert_ptr_nonnull(strstr(buf_str(&m), "nothing was written"));
    buf_free(&m);
    problem_close(&p);
}
END_TEST

START_TEST(a_modified_input_is_reported) {
    struct problem p;
    struct buf m = {0};
    make(&p, &floats, &two_by_three);
    ((float *)p.arg[1].actual)[2] += 1;
    ck_assert(!problem_compare(&p, &m));
    ck_assert_ptr_nonnull(strstr(buf_str(&m), "`in` is an input and was changed: in[2]"));
    buf_free(&m);
    problem_close(&p);
}
END_TEST

START_TEST(tolerances_apply_and_nan_is_handled) {
    struct problem p;
    struct buf m = {0};
    make(&p, &tolerant, &two_by_three);
    ((float *)p.arg[0].actual)[0] += 0.4f;
    ck_assert(problem_compare(&p, &m));
    ((float *)p.arg[0].actual)[0] = NAN; /* never close to a number, whatever the tolerance */
    ck_assert(!problem_compare(&p, &m));
    ((float *)p.arg[0].actual)[0] = -NAN;
    ck_assert(!problem_compare(&p, &m));
    ck_assert_msg(strstr(buf_str(&m), "got nan ") && !strstr(buf_str(&m), "-nan"), "%s",
                  buf_str(&m));
    ((double *)p.arg[0].expected)[0] = NAN;
    buf_clear(&m);
    ck_assert(problem_compare(&p, &m));
    ((double *)p.arg[0].expected)[0] = INFINITY;
    ((float *)p.arg[0].actual)[0] = 1e38f;
    ck_assert(!problem_compare(&p, &m));
    buf_free(&m);
    problem_close(&p);
}
END_TEST

START_TEST(an_empty_problem_passes) {
    struct problem p;
    struct buf m = {0};
    static const struct ex_case none = {.dim = {0, 3}};
    make(&p, &floats, &none);
    ck_assert(problem_compare(&p, &m));
    problem_close(&p);
}
END_TEST

/* ---- aliases ---- */

static size_t ten(const struct ex_case *c) {
    (void)c;
    return 10;
}
static size_t four(const struct ex_case *c) {
    (void)c;
    return 4;
}
static size_t at(const struct ex_case *c) { return (size_t)c->dim[0]; }
static int into_first(const struct ex_case *c) { return c->variant ? 1 : 0; }
static void unchanged(const struct ex_case *c, void *const host[], void *const expected[]) {
    (void)c, (void)host, (void)expected;
}
static const struct ex_arg alias_args[] = {
    {.name = "all", .role = EX_INOUT, .type = EX_I32, .count = ten},
    {.name = "part",
     .role = EX_IN,
     .type = EX_I32,
     .count = four,
     .alias = into_first,
     .alias_offset = at},
};
static const struct exercise aliased = {
    .name = "aliased", .args = alias_args, .nargs = 2, .reference = unchanged};

START_TEST(alias_points_into_its_owner) {
    struct problem p;
    struct err e = {0};
    static const struct ex_case inside = {.dim = {6}, .variant = 1},
                                outside = {.dim = {7}, .variant = 1}, apart = {.dim = {6}};
    ck_assert(problem_open(&p, &aliased, &inside, &e));
    ck_assert_ptr_eq(p.arg[1].initial, (int32_t *)p.arg[0].initial + 6);
    ck_assert(p.arg[1].is_writable); /* it may change with its owner: no "input was changed" */
    problem_close(&p);
    ck_assert(!problem_open(&p, &aliased, &outside, &e));
    problem_close(&p);
    e = (struct err){0};
    ck_assert(problem_open(&p, &aliased, &apart, &e));
    ck_assert_int_eq(p.arg[1].owner, 1);
    problem_close(&p);
}
END_TEST

START_TEST(cases_are_named_by_their_sizes) {
    struct buf b = {0};
    static const struct ex_case cases[] = {{.dim = {5, 0}}, {.dim = {2, 3}, .label = "small"}};
    static const struct exercise ex = {.cases = cases, .ncases = 2, .timed_case = {{64, 64}}};
    problem_append_case_name(&ex, &cases[1], &b);
    ck_assert_str_eq(buf_str(&b), "2 x 3: small"); /* no argument has these dimensions' names */
    static const struct ex_arg args[] = {
        {.name = "cols", .role = EX_SCALAR, .type = EX_I32, .dim = 1},
        {.name = "rows", .role = EX_SCALAR, .type = EX_I32, .dim = 0}};
    static const struct exercise named = {.args = args, .nargs = 2, .cases = cases, .ncases = 2};
    buf_clear(&b);
    problem_append_case_name(&named, &cases[1], &b);
    ck_assert_str_eq(buf_str(&b), "rows 2, cols 3: small");
    buf_free(&b);
}
END_TEST

/* The random bits of an output that is alone in its buffer are written where the caller
 * requires, and again the same. */
static size_t five_million(const struct ex_case *c) {
    (void)c;
    return 5000000;
}
START_TEST(packed_bits_are_expanded_in_place) {
    static const struct ex_arg args[] = {
        {.name = "in", .role = EX_IN, .type = EX_F32, .count = five_million},
        {.name = "out", .role = EX_OUT, .type = EX_F32, .count = five_million},
        {.name = "more", .role = EX_OUT, .type = EX_F32, .count = five_million}};
    static const struct exercise large = {.name = "large", .args = args, .nargs = 3};
    struct problem p;
    struct err e = {0};
    struct ex_rng r = seeded(7);
    ck_assert(problem_open(&p, &large, &two_by_three, &e));
    problem_draw_buffers(&p, &r, true);
    ck_assert(!p.arg[0].are_random_bits_deferred && p.arg[1].are_random_bits_deferred &&
              p.arg[2].are_random_bits_deferred &&
              ex_random(&r) != ex_random(&p.arg[2].output_rng));
    for (unsigned i = 1; i < 3; i++) {
        problem_write_random_bits(&p, i, p.arg[i].initial),
            problem_write_random_bits(&p, i, p.arg[i].actual_storage);
        ck_assert(!memcmp(p.arg[i].initial, p.arg[i].actual_storage, p.arg[i].bytes));
    }
    ck_assert(memcmp(p.arg[1].initial, p.arg[2].initial, p.arg[1].bytes) != 0);
    problem_close(&p);
}
END_TEST

/* IEEE 754's binary16, by hand: a unit of 1 is 2^-10, of the smallest numbers 2^-24, of the
 * largest 32. Ties go to even. */
START_TEST(halves_are_rounded_per_ieee_754) {
    static const struct {
        double from;
        unsigned bits;
    } is[] = {
        {0, 0},
        {-0.0, 0x8000},
        {1, 0x3c00},
        {-2, 0xc000},
        {0x1.004p0, 0x3c01},
        {1 + 0x1p-11, 0x3c00}, /* between 1 and the next: even */
        {1 + 0x1.8p-10, 0x3c02},
        {1 + 0x1.00001p-11, 0x3c01},
        {2 - 0x1p-11, 0x4000}, /* carries into the exponent */
        {0x1p-14, 0x0400},
        {0x1p-14 - 0x1p-26, 0x0400}, /* from below the normal ones up to their least */
        {0x1p-24, 1},
        {0x1p-25, 0},
        {0x1.8p-24, 2},
        {0x1p-1074, 0},
        {65504, 0x7bff},
        {65519.99, 0x7bff},
        {65520, 0x7c00},
        {-1e300, 0xfc00},
        {NAN, 0x7fff},
    };
    for (unsigned i = 0; i < sizeof is / sizeof *is; i++)
        ck_assert_msg(ex_half_from_double(is[i].from).bits == is[i].bits, "%a: %#x", is[i].from,
                      ex_half_from_double(is[i].from).bits);
}
END_TEST

/* Every half is its own nearest half, and numbers rise with their bits. */
START_TEST(halves_keep_their_value) {
    for (unsigned bits = 0; bits < 0x7c00; bits++) {
        double v = ex_half_to_double((ex_half){(uint16_t)bits}),
               next = ex_half_to_double((ex_half){(uint16_t)(bits + 1)});
        ck_assert_uint_eq(ex_half_from_double(v).bits, bits);
        ck_assert_uint_eq(ex_half_from_double(-v).bits, bits | 0x8000);
        ck_assert(v < next);
    }
    ck_assert(ex_half_to_double((ex_half){0x3555}) == 0x1.554p-2 &&
              ex_half_to_double((ex_half){0x0001}) == 0x1p-24);
    ck_assert(isinf(ex_half_to_double((ex_half){0xfc00})) &&
              isnan(ex_half_to_double((ex_half){0x7e01})));
}
END_TEST

static void sum_into_out(const struct ex_case *c, void *const host[], void *const expected[]) {
    ck_assert_ptr_null(host[0]);
    for (size_t i = 0; i < count(c); i++) ((double *)expected[0])[i] += ((float *)host[1])[i];
}
static const struct ex_arg sum_args[] = {
    {.name = "out",
     .role = EX_INOUT,
     .type = EX_F32,
     .count = count,
     .is_initial_in_expected = true},
    {.name = "in", .role = EX_IN, .type = EX_F32, .count = count},
};
static const struct exercise sum_exercise = {
    .name = "sum", .args = sum_args, .nargs = 2, .reference = sum_into_out};

/* Returns the bytes of a range that are in memory. */
static size_t resident_bytes(const void *p, size_t bytes) {
    static unsigned char pages[1 << 14];
    size_t page = (size_t)sysconf(_SC_PAGESIZE), resident = 0,
           from = ((size_t)p + page - 1) & ~(page - 1), n = ((size_t)p + bytes - from) / page;
    ck_assert(n <= sizeof pages && !mincore((void *)from, n * page, pages));
    for (size_t i = 0; i < n; i++) resident += pages[i] & 1 ? page : 0;
    return resident;
}

START_TEST(initial_content_in_expected_is_given_back) {
    static const struct ex_case large = {.dim = {1 << 11, 1 << 11}};
    struct problem p;
    struct err e = {0};
    struct ex_rng r = seeded(9);
    ck_assert_msg(problem_open(&p, &sum_exercise, &large, &e), "%s", e.text);
    problem_draw_buffers(&p, &r, true);
    double first = ((float *)p.arg[0].initial)[7] + (double)((float *)p.arg[1].initial)[7];
    ck_assert_uint_gt(resident_bytes(p.arg[0].initial, p.arg[0].bytes), p.arg[0].bytes / 2);
    problem_compute_expected(&p);
    ck_assert(((double *)p.arg[0].expected)[7] == first);
    ck_assert_uint_lt(resident_bytes(p.arg[0].initial, p.arg[0].bytes), p.arg[0].bytes / 8);
    ck_assert_uint_gt(resident_bytes(p.arg[1].initial, p.arg[1].bytes), p.arg[1].bytes / 2);
    problem_close(&p);
}
END_TEST

static void half_doubled(const struct ex_case *c, void *const host[], void *const expected[]) {
    for (size_t i = 0; i < count(c); i++)
        ((double *)expected[0])[i] = 2 * ex_half_to_double(((const ex_half *)host[1])[i]);
}
static const struct ex_arg half_args[] = {
    {.name = "out", .role = EX_OUT, .type = EX_F16, .count = count, .shape = {1, 2}},
    {.name = "in", .role = EX_IN, .type = EX_F16, .count = count},
    {.name = "both", .role = EX_INOUT, .type = EX_F16, .count = count},
};
static const struct exercise halves = {
    .name = "halves", .args = half_args, .nargs = 3, .reference = half_doubled};

START_TEST(buffers_of_halves_are_drawn_and_compared) {
    struct problem p;
    struct err e = {0};
    struct buf m = {0};
    struct ex_rng r = seeded(8);
    ck_assert_msg(problem_open(&p, &halves, &two_by_three, &e), "%s", e.text);
    ck_assert_uint_eq(p.arg[1].bytes, 12);
    problem_draw_buffers(&p, &r, true);
    problem_compute_expected(&p);
    for (unsigned i = 0; i < 3; i++) memcpy(p.arg[i].actual, p.arg[i].initial, p.arg[i].bytes);
    ex_half *in = p.arg[1].initial, *out = p.arg[0].actual;
    for (int i = 0; i < 6; i++) {
        double v = ex_half_to_double(in[i]);
        ck_assert(v >= -1 && v <= 1 &&
                  ((double *)p.arg[2].expected)[i] ==
                      ex_half_to_double(((ex_half *)p.arg[2].initial)[i]));
        out[i] = ex_half_from_double(2 * v);
    }
    ck_assert_msg(problem_compare(&p, &m), "%s", buf_str(&m));
    ((double *)p.arg[0].expected)[4] = 1.5, out[4] = (ex_half){0x3c01}; /* 1 + 2^-10 */
    ck_assert(!problem_compare(&p, &m));
    ck_assert_msg(strstr(buf_str(&m), "out[1][1]      got 1.001            expected 1.5"), "%s",
                  buf_str(&m));
    buf_free(&m), problem_close(&p);
}
END_TEST

START_TEST(a_half_by_value_is_refused) {
    static const struct ex_arg args[] = {{.name = "scale", .role = EX_SCALAR, .type = EX_F16}};
    static const struct exercise ex = {.name = "scalar", .args = args, .nargs = 1};
    struct problem p;
    struct err e = {0};
    ck_assert(!problem_open(&p, &ex, &two_by_three, &e));
    ck_assert_msg(strstr(e.text, "`scale` is a half by value: pass a float"), "%s", e.text);
    problem_close(&p);
}
END_TEST

UNIT_SUITE(grader_problem) {
    Suite *s = suite_create("grader_problem");
    TCase *t = tcase_create("problem");
    tcase_add_test(t, generator_is_xoshiro);
    tcase_add_test(t, ranges_are_held);
    tcase_add_test(t, different_seeds_give_different_inputs);
    tcase_add_test(t, right_output_passes);
    tcase_add_test(t, wrong_element_is_named);
    tcase_add_test(t, packed_words_are_shown_in_hexadecimal);
    tcase_add_test(t, an_unwritten_element_is_reported);
    tcase_add_test(t, a_modified_input_is_reported);
    tcase_add_test(t, tolerances_apply_and_nan_is_handled);
    tcase_add_test(t, an_empty_problem_passes);
    tcase_add_test(t, alias_points_into_its_owner);
    tcase_add_test(t, cases_are_named_by_their_sizes);
    tcase_add_test(t, packed_bits_are_expanded_in_place);
    tcase_add_test(t, halves_are_rounded_per_ieee_754);
    tcase_add_test(t, halves_keep_their_value);
    tcase_add_test(t, initial_content_in_expected_is_given_back);
    tcase_add_test(t, buffers_of_halves_are_drawn_and_compared);
    tcase_add_test(t, a_half_by_value_is_refused);
    suite_add_tcase(s, t);
    return s;
}
