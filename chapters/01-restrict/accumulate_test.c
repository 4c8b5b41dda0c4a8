/* accumulate_test.c — C[i*m+j] += A[i*k+l] * B[l*m+j] over l, integers, exact. */
#include "common/exercise.h"

enum { ROWS, INNER, COLS }; /* n, k, m */

static size_t count_c(const struct ex_case *c) { return (size_t)c->dim[ROWS] * c->dim[COLS]; }
static size_t count_a(const struct ex_case *c) { return (size_t)c->dim[ROWS] * c->dim[INNER]; }
static size_t count_b(const struct ex_case *c) { return (size_t)c->dim[INNER] * c->dim[COLS]; }

/* Overflow is undefined, so each sum must fit in 32 bits: k * 2000^2 + 10^6 < 2^31 up to k = 536.
 * The sums exceed the 24 bits that a float holds exactly, so that the tests detect an accumulator
 * of that type. */
static void fill_factor(const struct ex_case *c, struct ex_rng *r, void *data, size_t count) {
    (void)c;
    for (size_t i = 0; i < count; i++)
        ((int32_t *)data)[i] = (int32_t)ex_uniform_int(r, -2000, 2000);
}

static void fill_start(const struct ex_case *c, struct ex_rng *r, void *data, size_t count) {
    (void)c;
    for (size_t i = 0; i < count; i++)
        ((int32_t *)data)[i] = (int32_t)ex_uniform_int(r, -1000000, 1000000);
}

static void reference(const struct ex_case *c, void *const host[], void *const expected[]) {
    const int32_t *a = host[1], *b = host[2];
    int64_t *out = expected[0];
    long n = c->dim[ROWS], k = c->dim[INNER], m = c->dim[COLS];
    for (long i = 0; i < n; i++)
        for (long l = 0; l < k; l++)
            for (long j = 0; j < m; j++) out[i * m + j] += (int64_t)a[i * k + l] * b[l * m + j];
}

static double bytes(const struct ex_case *c) {
    return 4.0 * (2.0 * count_c(c) + count_a(c) + count_b(c));
}
static double flops(const struct ex_case *c) { return 2.0 * count_c(c) * c->dim[INNER]; }

static const struct ex_arg args[] = {
    {.name = "c",
     .role = EX_INOUT,
     .type = EX_I32,
     .count = count_c,
     .shape = {1, 3},
     .fill = fill_start},
    {.name = "a",
     .role = EX_IN,
     .type = EX_I32,
     .count = count_a,
     .shape = {1, 2},
     .fill = fill_factor},
    {.name = "b",
     .role = EX_IN,
     .type = EX_I32,
     .count = count_b,
     .shape = {2, 3},
     .fill = fill_factor},
    {.name = "n", .role = EX_SCALAR, .type = EX_I32, .dim = ROWS},
    {.name = "k", .role = EX_SCALAR, .type = EX_I32, .dim = INNER},
    {.name = "m", .role = EX_SCALAR, .type = EX_I32, .dim = COLS},
};

static const struct ex_case cases[] = {
    {{0, 5, 7}, .label = "no rows: nothing to launch"},
    {{5, 7, 0}, .label = "no columns: nothing to launch"},
    {{5, 0, 7}, .label = "k = 0: C stays as it was"},
    {{1, 1, 1}, .label = "a single product"},
    {{31, 32, 33}, .label = "around a warp"},
    {{32, 33, 31}, .label = "around a warp, other way round"},
    {{33, 31, 32}, .label = "one past a warp"},
    {{127, 17, 3}, .label = "prime sizes"},
    {{257, 127, 5}, .label = "one past a block of 256"},
    {{3, 5, 129}, .label = "more columns than rows"},
    {{1025, 3, 2}, .label = "more rows than a block has threads"},
    {{65, 63, 64}, .label = "around a power of two"},
    {{70001, 1, 2}, .label = "more rows than a grid has in y"},
};

START_TEST(matches_the_reference) { ex_check_case(&cases[_i]); }
END_TEST

static double outputs(void) { return count_c(&ex_current_exercise()->technique_case); }
static double steps(void) { return outputs() * ex_current_exercise()->technique_case.dim[INNER]; }

START_TEST(one_store_per_output) {
    ex_require_at_most_per(
        "device_write_accesses", outputs(), "output element", 1,
        "a running sum that lives in a register reaches global memory once, at the end");
    ex_require_at_most_per(
        "atomic_operations", outputs(), "output element", 0,
        "each output belongs to one thread, so an atomic only hides the store of each step");
}
END_TEST

/* The factors and C need 2k + 1 loads. A sum that is read back at each step would need 3k. */
START_TEST(no_reload_of_the_sum) {
    double k = ex_current_exercise()->technique_case.dim[INNER];
    ex_require_at_most_per(
        "device_read_accesses", outputs(), "output element", 2 * k + 1,
        "each output needs k elements of A, k of B and its own first value, nothing twice");
}
END_TEST

/* The sum must not be in local memory (volatile or spilled) or shared memory instead. A tiled
 * product stores 2 elements in shared memory for every 16 or 32 steps; an accumulator there would
 * store one at each step. */
START_TEST(sum_is_in_a_register) {
    ex_require_at_most("local_requests", 0,
                       "a sum in local memory is stored at each step, like one in global memory");
    ex_require_at_most_per(
        "shared_write_requests_total", steps() / 32, "warp-wide step", 0.25,
        "a sum in shared memory is stored at each step too; a register costs nothing");
}
END_TEST

/* What is left when the sum is in a register. The model solution leaves it to chapter 02, too. */
static void ideas(void) {
    ex_suggest(ex_metric_value("threads") < outputs() / 2,
               "give each element of C a thread of its own, so that all SMs have warps to run",
               "00-roofline", "By hand: vector_add");
    ex_suggest(ex_metric_value("global_load_sectors_per_request") > 8,
               "let a warp compute 32 neighbours of one row of C, so that its loads of B and its "
               "stores are coalesced",
               "02-coalescing", "By hand: gemm_mapping");
}

static void tests(TCase *correctness, TCase *goals, TCase *guards) {
    tcase_add_loop_test(correctness, matches_the_reference, 0, EX_COUNT(cases));
    tcase_add_test(goals, one_store_per_output);
    tcase_add_test(guards, no_reload_of_the_sum);
    tcase_add_test(guards, sum_is_in_a_register);
}

EXERCISE(accumulate, .chapter = "01-restrict",
         .title = "Integer matrix product that keeps its sum in a register", .args = args,
         .nargs = EX_COUNT(args), .cases = cases, .ncases = EX_COUNT(cases),
         .draw = {.dim = {{1, 2000}, {1, 200}, {1, 300}}, .max_product = 200000},
         .technique_case = {{256, 64, 128}}, .timed_case = {{512, 128, 256}},
         .reference = reference, .bytes = bytes, .flops = flops,
         .points = {.correctness = 0, .technique = 70, .speed = 30}, .tests = tests, .ideas = ideas,
         .baseline = "1-unqualified");
