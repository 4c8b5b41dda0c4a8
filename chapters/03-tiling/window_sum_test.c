/* window_sum_test.c — sums over a window of three, exact integers; graded on how often an element
 * is loaded. */
#include "common/exercise_limits.h"

static size_t count(const struct ex_case *c) { return (size_t)c->dim[0]; }

static void reference(const struct ex_case *c, void *const host[], void *const expected[]) {
    const int32_t *in = host[1];
    int64_t *out = expected[0];
    long n = c->dim[0];
    for (long i = 0; i < n; i++)
        out[i] = (i > 0 ? in[i - 1] : 0) + (int64_t)in[i] + (i + 1 < n ? in[i + 1] : 0);
}

static double bytes(const struct ex_case *c) { return 8.0 * count(c); }
static double flops(const struct ex_case *c) { return 2.0 * count(c); }

static const struct ex_arg args[] = {
    {.name = "out", .role = EX_OUT, .type = EX_I32, .count = count},
    {.name = "in", .role = EX_IN, .type = EX_I32, .count = count},
    {.name = "n", .role = EX_SCALAR, .type = EX_I32, .dim = 0},
};

static const struct ex_case cases[] = {
    {{0}, .label = "nothing to do"},
    {{1}, .label = "one element: both neighbours are outside"},
    {{2}, .label = "two elements"},
    {{31}, .label = "one less than a warp"},
    {{32}, .label = "a warp"},
    {{33}, .label = "one more than a warp"},
    {{255}, .label = "one less than a block of 256"},
    {{256}, .label = "a block of 256"},
    {{257}, .label = "the last block has one element"},
    {{1025}, .label = "one past a power of two"},
    {{10007}, .label = "a prime, many blocks"},
};

START_TEST(matches_the_reference) { ex_check_case(&cases[_i]); }
END_TEST

static double outputs(void) { return count(&ex_current_exercise()->technique_case); }

/* A block of 256 loads 258 elements: 1.008. The limit also allows a warp that loads 34 (1.0625)
 * and exchanges the rest with shuffles. A thread for each window makes 3. */
START_TEST(each_element_is_loaded_once) {
    ex_require_at_most_per("device_read_accesses", outputs(), "output", 1.07,
                           "block + 2 loads are enough for a block of windows of three");
}
END_TEST

/* A thread that walks along consecutive elements loads each once, too, but its warp's accesses are
 * strided. With two halo elements a warp touches 6 sectors instead of 4, so the limit is 1.6. */
START_TEST(reads_are_coalesced) {
    ex_require_at_most_per("device_read_sectors", outputs() / 8, "sector of the input", 1.6,
                           "each sector is needed by one block, but for the halo");
}
END_TEST

/* Warps that load 32 elements and write 30 windows start anywhere in a sector, which makes 1.2. */
START_TEST(writes_are_coalesced) {
    ex_require_at_most_per("device_write_sectors", outputs() / 8, "sector of the output", 1.3,
                           "each sector is written once");
}
END_TEST

/* Ideas that separate the ladder's last steps from the model solution. */
static void ideas(void) {
    ex_suggest(ex_metric_value("threads") > outputs() / 2,
               "let each thread compute four windows, so that its loads are in flight together",
               "03-tiling", "By hand: window_sum");
    ex_suggest(ex_metric_value("device_read_sectors") > 1.1 * outputs() / 8,
               "load a block's own elements from where sectors begin, and its halo apart",
               "02-coalescing", "By hand: pitched_rows");
}

static void tests(TCase *correctness, TCase *goals, TCase *guards) {
    tcase_add_loop_test(correctness, matches_the_reference, 0, EX_COUNT(cases));
    tcase_add_test(goals, each_element_is_loaded_once);
    tcase_add_test(goals, reads_are_coalesced);
    tcase_add_test(guards, writes_are_coalesced);
}

EXERCISE(window_sum, .chapter = "03-tiling", .title = "A tile with a halo", .args = args,
         .nargs = EX_COUNT(args), .cases = cases, .ncases = EX_COUNT(cases),
         .draw = {.dim = {{1, 12000}}}, .technique_case = {{1 << 18}}, .timed_case = {{1 << 24}},
         .reference = reference, .bytes = bytes, .flops = flops,
         .points = {.correctness = 0, .technique = 80, .speed = 20}, .tests = tests, .ideas = ideas,
         .baseline = "1-three-loads");
