/* index_math_test.c — the patches of an image as a matrix (im2col); graded on the instructions that
 * turn the index of an element into coordinates. */
#include "common/exercise_limits.h"

enum { CHANNELS, HEIGHT, WIDTH, K };

static size_t plane(const struct ex_case *c) { return (size_t)(c->dim[HEIGHT] * c->dim[WIDTH]); }
static size_t inputs(const struct ex_case *c) { return (size_t)c->dim[CHANNELS] * plane(c); }
static size_t outputs(const struct ex_case *c) {
    return inputs(c) * (size_t)(c->dim[K] * c->dim[K]);
}

/* Copies channel `in` to `out`, moved by (dy, dx); what comes from outside is 0. */
static void move_channel(const struct ex_case *c, const float *in, double *out, long dy, long dx) {
    long height = c->dim[HEIGHT], width = c->dim[WIDTH];
    for (long h = 0; h < height; h++)
        for (long w = 0; w < width; w++) {
            bool is_inside = h + dy >= 0 && h + dy < height && w + dx >= 0 && w + dx < width;
            out[h * width + w] = is_inside ? (double)in[(h + dy) * width + w + dx] : 0;
        }
}

static void reference(const struct ex_case *c, void *const host[], void *const expected[]) {
    const float *in = host[1];
    double *out = expected[0];
    long k = c->dim[K];
    for (long channel = 0; channel < c->dim[CHANNELS]; channel++, in += plane(c))
        for (long y = 0; y < k; y++)
            for (long x = 0; x < k; x++, out += plane(c))
                move_channel(c, in, out, y - k / 2, x - k / 2);
}

static double bytes(const struct ex_case *c) { return 4.0 * (double)(inputs(c) + outputs(c)); }

static const struct ex_arg args[] = {
    {.name = "out", .role = EX_OUT, .type = EX_F32, .count = outputs},
    {.name = "in", .role = EX_IN, .type = EX_F32, .count = inputs, .shape = {1, 2, 3}},
    {.name = "channels", .role = EX_SCALAR, .type = EX_I32, .dim = CHANNELS},
    {.name = "height", .role = EX_SCALAR, .type = EX_I32, .dim = HEIGHT},
    {.name = "width", .role = EX_SCALAR, .type = EX_I32, .dim = WIDTH},
    {.name = "k", .role = EX_SCALAR, .type = EX_I32, .dim = K},
};

static const struct ex_case cases[] = {
    {{0, 5, 7, 3}, .label = "no channels"},
    {{2, 0, 7, 3}, .label = "no rows"},
    {{1, 1, 1, 1}, .label = "one element"},
    {{1, 1, 1, 3}, .label = "one element, and eight outside"},
    {{3, 5, 7, 1}, .label = "a copy"},
    {{2, 4, 8, 2}, .label = "an even k, and widths of vectors"},
    {{3, 31, 33, 3}, .label = "around a warp"},
    {{2, 1, 300, 5}, .label = "one row"},
    {{2, 300, 1, 5}, .label = "one column"},
    {{5, 17, 19, 7}, .label = "primes"},
    {{1, 64, 129, 3}, .label = "one more than a power of two"},
    {{2, 60, 41, 3}, .label = "1 / 41, rounded to a float, is too small"},
    {{70, 3, 2, 4}, .label = "more channels than positions, and k larger than the image"},
};

START_TEST(matches_the_reference) { ex_check_case(&cases[_i]); }
END_TEST

static double warps(void) { return ex_element_count(0) / 32; }

/* A thread that writes the nine elements at its position takes 21 instructions for each, most of
 * them the two tests, the pointers and the inner loop. A block that steps along a row, from one
 * position to the one 256 further on, takes 29 with 16 positions for each thread. Four neighbours
 * for each set of divisions take 40, quotients for each element 54 by division and 63 by
 * multipliers. */
START_TEST(few_instructions_find_the_element) {
    ex_require_at_most_per("inst_executed", warps(), "32 elements", 30,
                           "neighbouring elements share most of their coordinates, so a thread can "
                           "step from one to the next");
}
END_TEST

START_TEST(writes_are_coalesced) {
    ex_require_coalesced_stores(1.125, "neighbouring lanes write neighbouring elements of a row");
}
END_TEST

START_TEST(many_SMs_work) { ex_require_min_blocks(EX_MIN_BLOCKS); }
END_TEST

/* The idea that separates the ladder's last step from the model solution. */
static void ideas(void) {
    ex_suggest(true,
               "let a thread write all k * k elements at its position: they are neighbours in the "
               "input, which L1 then holds",
               "06-occupancy", "By hand: index_math");
}

static void tests(TCase *correctness, TCase *goals, TCase *guards) {
    tcase_add_loop_test(correctness, matches_the_reference, 0, EX_COUNT(cases));
    tcase_add_test(goals, few_instructions_find_the_element);
    tcase_add_test(guards, writes_are_coalesced);
    tcase_add_test(guards, many_SMs_work);
}

/* Timed with 75 MB of output from 8 MB of input, so that the memory's speed is the least that a
 * version can take. */
EXERCISE(index_math, .chapter = "06-occupancy", .title = "Index arithmetic: divide once, then step",
         .args = args, .nargs = EX_COUNT(args), .cases = cases, .ncases = EX_COUNT(cases),
         .draw = {.dim = {{1, 9}, {1, 80}, {1, 80}, {1, 7}}, .max_product = 40000},
         .technique_case = {{32, 64, 64, 3}}, .timed_case = {{32, 256, 256, 3}},
         .reference = reference, .bytes = bytes,
         .points = {.correctness = 0, .technique = 50, .speed = 50}, .tests = tests, .ideas = ideas,
         .baseline = "1-64-bits");
