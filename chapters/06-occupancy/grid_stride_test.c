/* grid_stride_test.c — the first numbers of a linear congruential generator; graded on the set-up
 * that each thread repeats, which a grid-stride loop pays once for many numbers. */
#include "common/exercise_limits.h"

static size_t count(const struct ex_case *c) { return (size_t)c->dim[0]; }

static double any_seed(const struct ex_case *c, struct ex_rng *r) {
    (void)c;
    return (double)(ex_random(r) >> 32);
}

static void reference(const struct ex_case *c, void *const host[], void *const expected[]) {
    uint32_t state = *(const uint32_t *)host[2];
    int64_t *out = expected[0];
    for (long i = 0; i < c->dim[0]; i++) out[i] = state = state * 1664525u + 1013904223u;
}

static double bytes(const struct ex_case *c) { return 4.0 * count(c); }

static const struct ex_arg args[] = {
    {.name = "out", .role = EX_OUT, .type = EX_U32, .count = count},
    {.name = "n", .role = EX_SCALAR, .type = EX_I32, .dim = 0},
    {.name = "seed", .role = EX_SCALAR, .type = EX_U32, .value = any_seed},
};

static const struct ex_case cases[] = {
    {{0}, .label = "no numbers"},
    {{1}, .label = "one number"},
    {{2}, .label = "two numbers"},
    {{3}, .label = "three numbers, less than a vector"},
    {{31}, .label = "one less than a warp"},
    {{33}, .label = "one more than a warp"},
    {{255}, .label = "one less than a block"},
    {{1025}, .label = "one more than a block with four each"},
    {{10007}, .label = "a prime"},
    {{131072}, .label = "a power of two"},
    {{300007}, .label = "a prime, more than many grids have threads"},
    {{1200003}, .label = "several turns of a loop, and three more"},
};

START_TEST(matches_the_reference) { ex_check_case(&cases[_i]); }
END_TEST

static double warps(void) { return ex_element_count(0) / 32; }

/* A jump takes 23 turns of 9 instructions at most places: 217 instructions for 32 numbers. With a
 * loop, a thread jumps once or twice: 528 blocks of 256 threads make 62 numbers each, so the jumps'
 * share is 4 to 7, and the loop's own 3 to 5. All threads that fit on the SMs at once, twice as
 * many, may jump twice each: 20. Jumps by digits, from tables of maps, take 28, and launches that
 * each double what is there take 23. */
START_TEST(a_thread_jumps_once) {
    ex_require_at_most_per("inst_executed", warps(), "32 numbers", 21,
                           "from one of its numbers to the next, a thread needs one multiplication "
                           "and one addition");
    ex_require_at_most_per("device_read_accesses", ex_element_count(0), "number", 0.1,
                           "numbers that are read back from memory move twice the bytes");
}
END_TEST

START_TEST(writes_are_coalesced) {
    ex_require_coalesced_stores(1.125, "neighbouring lanes write neighbouring numbers");
}
END_TEST

START_TEST(many_SMs_work) { ex_require_min_blocks(EX_MIN_BLOCKS); }
END_TEST

/* Ideas that separate the ladder's last steps from the model solution. */
static void ideas(void) {
    ex_suggest(ex_metric_value("theoretical_occupancy") < 0.2,
               "let more warps write at the same time", "06-occupancy", "By hand: grid_stride");
    ex_suggest(true,
               "store four numbers at a time, and let the host compute what is the same for all",
               "06-occupancy", "By hand: grid_stride");
}

static void tests(TCase *correctness, TCase *goals, TCase *guards) {
    tcase_add_loop_test(correctness, matches_the_reference, 0, EX_COUNT(cases));
    tcase_add_test(goals, a_thread_jumps_once);
    tcase_add_test(guards, writes_are_coalesced);
    tcase_add_test(guards, many_SMs_work);
}

/* Timed with 67 MB of numbers, so that the memory's speed is the least that a version can take. */
EXERCISE(grid_stride, .chapter = "06-occupancy", .title = "One set-up for many elements",
         .args = args, .nargs = EX_COUNT(args), .cases = cases, .ncases = EX_COUNT(cases),
         .draw = {.dim = {{1, 400000}}}, .technique_case = {{1 << 23}}, .timed_case = {{1 << 24}},
         .reference = reference, .bytes = bytes,
         .points = {.correctness = 0, .technique = 50, .speed = 50}, .tests = tests, .ideas = ideas,
         .baseline = "1-jump-each");
