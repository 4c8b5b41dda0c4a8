/* stencil_planes_test.c — a star stencil of 25 points in three dimensions; graded on how often an
 * element is read. */
#include "common/exercise_limits.h"

enum { DEPTH, HEIGHT, WIDTH };
enum { RADIUS = 4 };

static const float weights[RADIUS + 1] = {-8.5416667f, 1.6f, -0.2f, 0.025396825f, -0.0017857143f};

static size_t count(const struct ex_case *c) {
    return (size_t)(c->dim[DEPTH] * c->dim[HEIGHT] * c->dim[WIDTH]);
}

/* Returns the sum of the two elements `k` away along one axis; elements outside are 0. */
static double pair(const float *in, long at, long place, long length, long stride, long k) {
    return (place >= k ? (double)in[at - k * stride] : 0) +
           (place + k < length ? (double)in[at + k * stride] : 0);
}

static void reference(const struct ex_case *c, void *const host[], void *const expected[]) {
    const float *in = host[1];
    double *out = expected[0];
    long depth = c->dim[DEPTH], height = c->dim[HEIGHT], width = c->dim[WIDTH], i = 0;
    for (long z = 0; z < depth; z++)
        for (long y = 0; y < height; y++)
            for (long x = 0; x < width; x++, i++) {
                out[i] = (double)weights[0] * in[i];
                for (long k = 1; k <= RADIUS; k++)
                    out[i] += weights[k] *
                              (pair(in, i, x, width, 1, k) + pair(in, i, y, height, width, k) +
                               pair(in, i, z, depth, width * height, k));
            }
}

/* 25 products of elements below 1, in any order: each is rounded once and takes part in at most 24
 * additions. The magnitudes of the weights add up to 8.54 + 6 * 1.83 = 19.5 (Higham, Accuracy and
 * Stability, 4.2). */
static double tolerance(const struct ex_case *c, void *const host[], int arg, size_t index,
                        double expected) {
    (void)c, (void)host, (void)arg, (void)index, (void)expected;
    return 25 * EX_ROUNDOFF_F32 * 19.5;
}

static double bytes(const struct ex_case *c) { return 8.0 * count(c); }
/* Five additions, a product and its addition for each distance, and one product for the centre. */
static double flops(const struct ex_case *c) { return 29.0 * count(c); }

static const struct ex_arg args[] = {
    {.name = "out",
     .role = EX_OUT,
     .type = EX_F32,
     .count = count,
     .shape = {DEPTH + 1, HEIGHT + 1, WIDTH + 1}},
    {.name = "in",
     .role = EX_IN,
     .type = EX_F32,
     .count = count,
     .shape = {DEPTH + 1, HEIGHT + 1, WIDTH + 1}},
    {.name = "depth", .role = EX_SCALAR, .type = EX_I32, .dim = DEPTH},
    {.name = "height", .role = EX_SCALAR, .type = EX_I32, .dim = HEIGHT},
    {.name = "width", .role = EX_SCALAR, .type = EX_I32, .dim = WIDTH},
};

static const struct ex_case cases[] = {
    {{0, 5, 8}, .label = "no planes"},
    {{1, 1, 4}, .label = "one row of four"},
    {{3, 3, 4}, .label = "smaller than the star"},
    {{9, 9, 12}, .label = "as large as the star"},
    {{1, 33, 64}, .label = "one plane"},
    {{70, 1, 4}, .label = "one row a plane"},
    {{5, 7, 132}, .label = "one group past 128"},
    {{17, 31, 36}, .label = "primes, but for the width"},
    {{33, 16, 64}, .label = "one plane past 32"},
    {{64, 17, 68}, .label = "one row past 16"},
    {{13, 67, 128}, .label = "many rows"},
    {{131, 9, 16}, .label = "many planes, a prime"},
};

START_TEST(matches_the_reference) { ex_check_case(&cases[_i]); }
END_TEST

static double outputs(void) { return (double)count(&ex_current_exercise()->technique_case); }

/* A thread for each element makes 25 requests for 32 outputs, 17 of 4 sectors and 8 (those along
 * the row) of 5: 27 sectors for each of the output. A plane of 32 x 16 with its halo has 8 more
 * rows, and one more sector at both ends of each row: 2. For 64 x 16 it is 1.75. Each segment along
 * the column has eight more planes: 1.25 times that for a segment of 32. 16 neighbours in the plane
 * are read from shared memory for each output, fewer if a thread has several outputs; the 8 along
 * the column can stay in registers. */
START_TEST(each_element_is_read_about_once) {
    ex_require_at_most_per(
        "device_read_sectors", outputs() / 8, "sector of the output", 2.75,
        "neighbours in a plane can come from shared memory, those along the column from registers");
    ex_require_at_most_per("device_read_requests", outputs() / 32, "32 outputs", 3.5,
                           "an element already in a register needs no request");
    ex_require_at_most_per("shared_requests_total", outputs() / 32, "32 outputs", 20,
                           "the column doesn't need shared memory");
    ex_require_at_most_per("local_requests", outputs() / 32, "32 outputs", 1,
                           "the column doesn't need local memory");
}
END_TEST

START_TEST(writes_are_coalesced) {
    ex_require_coalesced_stores(1.25, "neighbouring lanes write neighbours of a row");
}
END_TEST

START_TEST(few_bank_conflicts) {
    ex_require_at_most_per("bank_conflicts", outputs() / 32, "32 outputs", 2,
                           "rows of a plane lie in different banks");
}
END_TEST

START_TEST(many_SMs_work) { ex_require_min_blocks(16); }
END_TEST

/* Ideas that separate the ladder's last steps from the model solution. */
static void ideas(void) {
    ex_suggest(ex_metric_value("shared_read_requests_total") > 8 * outputs() / 32,
               "give each thread four neighbours of a row, so that one read of a vector serves "
               "several sums",
               "12-sparse-and-stencil", "By hand: stencil_planes");
}

static void tests(TCase *correctness, TCase *goals, TCase *guards) {
    tcase_add_loop_test(correctness, matches_the_reference, 0, EX_COUNT(cases));
    tcase_add_test(goals, each_element_is_read_about_once);
    tcase_add_test(guards, writes_are_coalesced);
    tcase_add_test(guards, few_bank_conflicts);
    tcase_add_test(guards, many_SMs_work);
}

/* Timed with 67 MB in and 67 MB out, which is more than L2 holds. */
EXERCISE(stencil_planes, .chapter = "12-sparse-and-stencil",
         .title = "Planes that slide along a column", .args = args, .nargs = EX_COUNT(args),
         .cases = cases, .ncases = EX_COUNT(cases),
         .draw = {.dim = {{1, 90}, {1, 90}, {4, 180, .step = 4}}, .max_product = 200000},
         .technique_case = {{64, 64, 128}}, .timed_case = {{256, 256, 256}}, .reference = reference,
         .tolerance = tolerance, .bytes = bytes, .flops = flops,
         .points = {.correctness = 0, .technique = 60, .speed = 40}, .tests = tests, .ideas = ideas,
         .baseline = "1-all-from-memory");
