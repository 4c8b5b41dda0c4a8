/* look_back_test.c — an inclusive prefix sum in one pass, with look-back; graded on how often
 * memory is read and written, and on how long blocks wait for the blocks before them. */
#include "common/exercise_limits.h"

enum { ANY, ONES, LARGEST, FIRST }; /* variants: what the elements are */

static size_t count(const struct ex_case *c) { return (size_t)c->dim[0]; }

/* ANY: all 32 bits are random, so that sums often wrap around. FIRST: all are 0 but the first,
 * which every sum contains. */
static void fill(const struct ex_case *c, struct ex_rng *r, void *data, size_t n) {
    uint32_t *x = data;
    for (size_t i = 0; i < n; i++)
        x[i] = c->variant == ANY       ? (uint32_t)ex_random(r)
               : c->variant == LARGEST ? UINT32_MAX
                                       : c->variant == ONES;
    if (n && c->variant == FIRST) x[0] = (uint32_t)ex_random(r) | 1;
}

static void reference(const struct ex_case *c, void *const host[], void *const expected[]) {
    const uint32_t *in = host[1];
    int64_t *out = expected[0];
    uint32_t sum = 0;
    for (long i = 0; i < c->dim[0]; i++) out[i] = sum += in[i];
}

static double bytes(const struct ex_case *c) { return 8.0 * count(c); }
static double flops(const struct ex_case *c) { return count(c); }

static const struct ex_arg args[] = {
    {.name = "out", .role = EX_OUT, .type = EX_U32, .count = count},
    {.name = "in", .role = EX_IN, .type = EX_U32, .count = count, .fill = fill},
    {.name = "n", .role = EX_SCALAR, .type = EX_I32, .dim = 0},
};

static const struct ex_case cases[] = {
    {{0}, .label = "no elements"},
    {{1}, .label = "one element"},
    {{31}, ONES, "one less than a warp, all 1"},
    {{33}, .label = "one more than a warp"},
    {{1023}, .label = "no multiple of 4"},
    {{4096}, LARGEST, "a tile of the skeleton, all 2^32 - 1"},
    {{4097}, .label = "and one more"},
    {{10007}, .label = "a prime"},
    {{65537}, FIRST, "one past a power of two, 0 behind the first"},
    {{262143}, ONES, "one less than a power of two, all 1"},
    {{300007}, LARGEST, "a prime, all 2^32 - 1"},
    {{1000003}, .label = "a larger prime"},
};

START_TEST(matches_the_reference) { ex_check_case(&cases[_i]); }
END_TEST

static double sectors(void) { return count(&ex_current_exercise()->technique_case) / 8; }

/* A version that adds to the results afterwards writes them twice. */
START_TEST(results_are_written_once) {
    ex_require_at_most_per("device_write_sectors", sectors(), "sector of the output", 1.125,
                           "a block that knows the sum before it adds it before it stores");
    ex_require_at_most("local_requests", 0,
                       "an array that is indexed by a variable lives in memory, not in registers");
}
END_TEST

/* It is 2 if the results are read to add to them, or if the totals come first. Looking back at 32
 * words of 8 bytes takes 8 sectors; a tile has 512. */
START_TEST(the_input_is_read_once) {
    ex_require_at_most_per(
        "device_read_sectors", sectors(), "sector of the input", 1.25,
        "a block can keep its elements until it knows what lies before them; the blocks "
        "before it know");
    ex_require_at_most("launches", 2, "one launch clears the blocks' flags, and one scans");
    ex_require_at_most("local_requests", 0, "elements stay in registers, not in local memory");
}
END_TEST

START_TEST(reads_are_coalesced) {
    ex_require_at_most_per("excessive_read_sectors", ex_problem_sectors(), "sector of the problem",
                           0.25, "neighbouring lanes look at neighbouring elements");
}
END_TEST

START_TEST(writes_are_coalesced) {
    ex_require_at_most_per("excessive_write_sectors", ex_problem_sectors(), "sector of the problem",
                           0.25, "neighbouring lanes write neighbouring elements");
}
END_TEST

START_TEST(many_SMs_work) { ex_require_min_blocks(EX_MIN_BLOCKS); }
END_TEST

/* Ideas that separate the ladder's last steps from the model solution. */
static void ideas(void) {
    ex_suggest(
        true,
        "let a warp look at 32 tiles before its own at once, and find the nearest prefix by votes",
        "11-scan-and-sort", "By hand: look_back");
}

static void tests(TCase *correctness, TCase *goals, TCase *guards) {
    tcase_add_loop_test(correctness, matches_the_reference, 0, EX_COUNT(cases));
    tcase_add_test(goals, results_are_written_once);
    tcase_add_test(goals, the_input_is_read_once);
    tcase_add_test(guards, reads_are_coalesced);
    tcase_add_test(guards, writes_are_coalesced);
    tcase_add_test(guards, many_SMs_work);
}

/* The technique case has 256 tiles of 4096. Timed with 64 MB in and 64 MB out, which is more than
 * L2 holds. */
EXERCISE(look_back, .chapter = "11-scan-and-sort",
         .title = "One pass, in which blocks read earlier results", .args = args,
         .nargs = EX_COUNT(args), .cases = cases, .ncases = EX_COUNT(cases),
         .draw = {.dim = {{1, 400000}}, .variants = {"any elements", "all 1"}},
         .technique_case = {{1 << 20}}, .timed_case = {{1 << 24}}, .reference = reference,
         .bytes = bytes, .flops = flops, .points = {.correctness = 0, .technique = 60, .speed = 40},
         .tests = tests, .ideas = ideas, .baseline = "1-add-after");
