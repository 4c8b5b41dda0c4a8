/* last_block_test.c — the Euclidean norm of n floats; graded on one launch, in which the last block
 * to finish adds up what all blocks have stored, in an order that is always the same. */
#include "common/exercise_reduce.h"

enum { REAL, WHOLE, ALL_ZERO };

/* Squares of whole numbers add up to at most 2^24 in every case, so that their sum is exact in any
 * order, and missing elements show. The bound on the error of a sum of reals grows with their
 * count: at the timed size it would accept half of the sum. */
static void fill(const struct ex_case *c, struct ex_rng *r, void *data, size_t count) {
    float *x = data;
    long largest = count > 1 << 20 ? 1 : 4;
    for (size_t i = 0; i < count; i++)
        x[i] = c->variant == WHOLE  ? (float)ex_uniform_int(r, -largest, largest)
               : c->variant == REAL ? (float)ex_uniform(r, -1, 1)
                                    : 0;
    if (count && c->variant == WHOLE) x[0] = x[count - 1] = 3;
}

static void reference(const struct ex_case *c, void *const host[], void *const expected[]) {
    const float *in = host[1];
    double sum = 0;
    for (long i = 0; i < c->dim[0]; i++) sum += (double)in[i] * in[i];
    *(double *)expected[0] = sqrt(sum);
}

/* A sum of n squares has a relative error of at most n u in any order (Higham, Accuracy and
 * Stability, 4.2, with one rounding of each product); the root halves it and adds one rounding. A
 * sum of whole numbers has none; 4 u leave room for an approximate root. */
static double tolerance(const struct ex_case *c, void *const host[], int arg, size_t index,
                        double expected) {
    (void)host, (void)arg, (void)index;
    return (c->variant == REAL ? c->dim[0] / 2.0 + 4 : 4) * EX_ROUNDOFF_F32 * expected;
}

static const struct ex_arg args[] = {
    {.name = "out", .role = EX_OUT, .type = EX_F32, .count = ex_reduce_result},
    {.name = "in", .role = EX_IN, .type = EX_F32, .count = ex_reduce_count, .fill = fill},
    {.name = "n", .role = EX_SCALAR, .type = EX_I32, .dim = 0},
};

static const struct ex_case cases[] = {
    {{0}, .label = "no elements: 0"},
    {{1}, WHOLE, "one element"},
    {{31}, WHOLE, "one less than a warp"},
    {{33}, WHOLE, "one more than a warp"},
    {{256}, WHOLE, "a block of the starter file"},
    {{257}, WHOLE, "one element in the second block"},
    {{1000}, REAL, "reals"},
    {{1000}, ALL_ZERO, "all zero"},
    {{10007}, WHOLE, "a prime"},
    {{65537}, WHOLE, "257 blocks of 256: more blocks than threads"},
    {{300001}, WHOLE, "more elements than threads"},
    {{300001}, REAL, "many reals"},
};

START_TEST(matches_the_reference) { ex_check_case(&cases[_i]); }
END_TEST

/* An atomic whose result is unused can only add to a sum. One whose result is used can count, which
 * takes one for each block; with several launches nobody needs to count, since the end of a launch
 * is a barrier. */
START_TEST(sums_have_a_fixed_order) {
    ex_require_at_most("reduction_requests", 0,
                       "atomics add to a sum in the order in which blocks finish");
    ex_require_at_most("atomic_requests", ex_launch_count() > 1 ? 0 : ex_metric_value("blocks"),
                       "one atomic per block counts the blocks; several launches need none");
}
END_TEST

/* Loads of the parts: a warp reads 32 of them at once, which is a thousandth of the input's loads.
 * A thread that reads all parts alone makes more than the limit allows. */
START_TEST(one_launch) {
    ex_require_at_most("launches", 1,
                       "the block that finishes last can do what a launch after it does");
    ex_require_at_most("filled_bytes", 0, "the last block can reset what the next call needs");
    ex_require_at_most_per("global_load_requests", ex_element_count(1) / 32, "warp of elements",
                           1.01,
                           "a thread that adds all parts alone loads them one by one; a warp of "
                           "the last block can load 32 at once");
}
END_TEST

START_TEST(reads_are_coalesced) {
    ex_require_coalesced_reduce_loads();
    ex_require_at_most_per("device_read_sectors", ex_element_count(1) / 8, "sector of the input",
                           1.25, "each element is needed once");
}
END_TEST

START_TEST(many_SMs_work) { ex_require_min_blocks(EX_MIN_BLOCKS); }
END_TEST

static void tests(TCase *correctness, TCase *goals, TCase *guards) {
    tcase_add_loop_test(correctness, matches_the_reference, 0, EX_COUNT(cases));
    tcase_add_test(goals, sums_have_a_fixed_order);
    tcase_add_test(goals, one_launch);
    tcase_add_test(guards, reads_are_coalesced);
    tcase_add_test(guards, many_SMs_work);
}

/* Timed with 64 MB. What the technique saves doesn't grow with the array, so it is a small part of
 * the time here. */
EXERCISE(last_block, .chapter = "05-atomics-reduction",
         .title = "One launch: the last block adds up", .args = args, .nargs = EX_COUNT(args),
         .cases = cases, .ncases = EX_COUNT(cases),
         .draw = {.dim = {{1, 200000}}, .variants = {"reals", "whole numbers", "all zero"}},
         .technique_case = {{1 << 20}, WHOLE}, .timed_case = {{1 << 24}, WHOLE},
         .reference = reference, .tolerance = tolerance, .bytes = ex_reduce_bytes,
         .flops = ex_reduce_flops, .points = {.correctness = 0, .technique = 100, .speed = 0},
         .tests = tests, .baseline = "1-atomics");
