/* max_reduce_test.c — the exact maximum of n floats: of one sign, of both, with infinities; graded
 * on the number of atomics. */
#include "common/exercise_reduce.h"

enum { ROUNDS = 4 }; /* at the known sizes */
enum { BOTH, NEGATIVE, POSITIVE, LAST, FIRST, ALL_MINUS_INFINITY, TINY, MINUS_ZERO, PLUS_INFINITY };

/* Returns the place of the largest element: in ROUNDS successive rounds, once in each of so many
 * parts of the input, and with each remainder. So a version that skips one of ROUNDS parts, or
 * every ROUNDS-th element, finds the largest element in some rounds, but not in all. */
static size_t largest_place(struct ex_rng *r, size_t count) {
    long part = (long)count / ROUNDS, groups = part / ROUNDS;
    if (!groups) return (size_t)ex_uniform_int(r, 0, (long)count - 1);
    return (size_t)(ex_stratum(r, ROUNDS, 0) * part + ex_stratum(r, ROUNDS, 1) +
                    ROUNDS * ex_uniform_int(r, 0, groups - 1));
}

static void fill(const struct ex_case *c, struct ex_rng *r, void *data, size_t count) {
    float *x = data;
    double low = c->variant == POSITIVE ? 1 : -100,
           high =
               c->variant == NEGATIVE || c->variant == TINY || c->variant == MINUS_ZERO ? -1 : 100;
    for (size_t i = 0; i < count; i++)
        x[i] = c->variant == ALL_MINUS_INFINITY ? -INFINITY : (float)ex_uniform(r, low, high);
    if (!count) return;
    if (c->variant == BOTH) x[largest_place(r, count)] = (float)ex_uniform(r, 200, 1000);
    if (c->variant == LAST) x[count - 1] = 1000;
    if (c->variant == FIRST) x[0] = 1000;
    if (c->variant == MINUS_ZERO) x[count / 2] = -0.0f;
    if (c->variant == PLUS_INFINITY) x[count / 2] = INFINITY;
    if (c->variant == TINY)
        x[count / 2] = 0x1p-140f; /* below the smallest normal number, FLT_MIN */
}

static void reference(const struct ex_case *c, void *const host[], void *const expected[]) {
    const float *in = host[1];
    double *out = expected[0];
    *out = -INFINITY;
    for (long i = 0; i < c->dim[0]; i++)
        if (in[i] > *out) *out = in[i];
}

static const struct ex_arg args[] = {
    {.name = "out", .role = EX_OUT, .type = EX_F32, .count = ex_reduce_result},
    {.name = "in", .role = EX_IN, .type = EX_F32, .count = ex_reduce_count, .fill = fill},
    {.name = "n", .role = EX_SCALAR, .type = EX_I32, .dim = 0},
};

static const struct ex_case cases[] = {
    {{0}, .label = "no elements: minus infinity"},
    {{1}, NEGATIVE, "one element, negative"},
    {{31}, NEGATIVE, "one less than a warp, all negative"},
    {{32}, BOTH, "a warp"},
    {{33}, LAST, "one more than a warp, the largest is the last"},
    {{257}, LAST, "one more than a block, the largest is the last"},
    {{1000}, NEGATIVE, "all negative"},
    {{1000}, POSITIVE, "all positive"},
    {{1000}, ALL_MINUS_INFINITY, "all minus infinity"},
    {{1000}, TINY, "negative, and one smaller than the smallest normal number"},
    {{1000}, MINUS_ZERO, "negative, and one -0.0"},
    {{1000}, PLUS_INFINITY, "one is infinite"},
    {{10007}, BOTH, "a prime"},
    {{65537}, LAST, "one past a power of two, the largest is the last"},
    {{65537}, FIRST, "the largest is the first"},
    {{300001}, NEGATIVE, "large, all negative"},
};

START_TEST(matches_the_reference) { ex_check_case(&cases[_i]); }
END_TEST

static void require_local_maxima(void) {
    ex_require_block_reduction(
        "a block of 256 or more finds its own largest and updates the result once");
}

START_TEST(one_atomic_per_block) { require_local_maxima(); }
END_TEST

START_TEST(warps_reduce_by_shuffles) {
    require_local_maxima();
    ex_require_warp_reduction(
        "the lanes of a warp can find their largest by shuffles before one lane accesses memory",
        "the warps of a block need one barrier, when each has its largest");
}
END_TEST

START_TEST(reads_are_coalesced) { ex_require_coalesced_reduce_loads(); }
END_TEST

START_TEST(many_SMs_work) { ex_require_min_blocks(8); }
END_TEST

/* The idea that separates the ladder's last step from the model solution. */
static void ideas(void) {
    ex_suggest(ex_metric_value("global_load_requests") >
                   ex_reduce_count(&ex_current_exercise()->technique_case) / 64.0,
               "load 16 bytes at a time, several times, and reduce them in a register before lanes "
               "and warps do",
               "02-coalescing", "By hand: vector_loads");
}

static void tests(TCase *correctness, TCase *goals, TCase *guards) {
    tcase_add_loop_test(correctness, matches_the_reference, 0, EX_COUNT(cases));
    tcase_add_test(goals, one_atomic_per_block);
    tcase_add_test(goals, warps_reduce_by_shuffles);
    tcase_add_test(guards, reads_are_coalesced);
    tcase_add_test(guards, many_SMs_work);
}

/* Timed with 256 MB, which no cache holds, and so that two launches (5 us) are short compared with
 * the reading (62 us). */
EXERCISE(max_reduce, .chapter = "05-atomics-reduction",
         .title = "The largest element, and the maximum of nothing", .args = args,
         .nargs = EX_COUNT(args), .cases = cases, .ncases = EX_COUNT(cases),
         .draw = {.dim = {{1, 200000}},
                  .variants = {"both signs", "all negative", "all positive",
                               "the largest is the last", "the largest is the first",
                               "all minus infinity", "negative, and one tiny",
                               "negative, and one -0.0", "one is infinite"}},
         .technique_case = {{1 << 17}}, .timed_case = {{1 << 26}}, .known_size_rounds = ROUNDS,
         .reference = reference, .bytes = ex_reduce_bytes, .flops = ex_reduce_flops,
         .points = {.correctness = 0, .technique = 50, .speed = 50}, .tests = tests, .ideas = ideas,
         .baseline = "1-atomics");
