/* divergence_test.c — random walks of very different lengths, which nothing tells beforehand;
 * graded on the lanes that wait for the longest walk of their warp. */
#include "common/exercise_limits.h"

enum { N, WIDTH };
enum { ANYWHERE, MIDDLE, AT_A_WALL, ONE_IN_THE_MIDDLE }; /* variants: where the walks start */

static size_t count(const struct ex_case *c) { return (size_t)c->dim[N]; }

/* ONE_IN_THE_MIDDLE: one walk of 32 is long, the others start next to a wall. */
static long start(const struct ex_case *c, struct ex_rng *r, size_t i) {
    long right = c->dim[WIDTH] - 1, middle = (right + 1) / 2;
    switch (c->variant) {
    case MIDDLE: return middle;
    case AT_A_WALL: return i % 2 ? right : 1;
    case ONE_IN_THE_MIDDLE: return i % 32 == 5 ? middle : 1;
    default: return ex_uniform_int(r, 1, right);
    }
}

static void fill_start(const struct ex_case *c, struct ex_rng *r, void *data, size_t n) {
    for (size_t i = 0; i < n; i++) ((int32_t *)data)[i] = (int32_t)start(c, r, i);
}

static void fill_seed(const struct ex_case *c, struct ex_rng *r, void *data, size_t n) {
    (void)c;
    for (size_t i = 0; i < n; i++) ((uint32_t *)data)[i] = (uint32_t)(ex_random(r) >> 32);
}

static int64_t walk(int32_t position, uint32_t state, int32_t width) {
    int64_t steps = 0;
    while (position > 0 && position < width) {
        state = state * 1664525u + 1013904223u;
        position += 2 * (int32_t)(state >> 31) - 1;
        steps++;
    }
    return position > 0 ? steps : -steps;
}

static void reference(const struct ex_case *c, void *const host[], void *const expected[]) {
    const int32_t *first = host[1];
    const uint32_t *seed = host[2];
    int64_t *steps = expected[0];
    for (long i = 0; i < c->dim[N]; i++) steps[i] = walk(first[i], seed[i], (int32_t)c->dim[WIDTH]);
}

static double bytes(const struct ex_case *c) { return 12.0 * count(c); }

static const struct ex_arg args[] = {
    {.name = "steps", .role = EX_OUT, .type = EX_I32, .count = count},
    {.name = "start", .role = EX_IN, .type = EX_I32, .count = count, .fill = fill_start},
    {.name = "seed", .role = EX_IN, .type = EX_U32, .count = count, .fill = fill_seed},
    {.name = "n", .role = EX_SCALAR, .type = EX_I32, .dim = N},
    {.name = "width", .role = EX_SCALAR, .type = EX_I32, .dim = WIDTH},
};

static const struct ex_case cases[] = {
    {{0, 9}, .label = "no walks"},
    {{1, 2}, .label = "one walk, one step"},
    {{31, 40}, .label = "one less than a warp"},
    {{32, 3}, AT_A_WALL, "a warp, narrow"},
    {{33, 33}, .label = "one more than a warp"},
    {{127, 16}, MIDDLE, "one less than a block"},
    {{480, 64}, MIDDLE, "all start in the middle, far from the walls"},
    {{1009, 32}, AT_A_WALL, "a prime, half of the walks take one step"},
    {{4096, 100}, ONE_IN_THE_MIDDLE, "one long walk in each 32"},
    {{4097, 17}, .label = "one past a power of two"},
    {{70001, 8}, .label = "many walks, more than a round of the grid"},
};

START_TEST(matches_the_reference) { ex_check_case(&cases[_i]); }
END_TEST

/* A walk from position p takes p (width - p) steps on average (the gambler's ruin), so over all
 * starts from 1 to width - 1 the average is width (width + 1) / 6. With 2^17 walks, the sum
 * differs from that by some tenths of a percent. */
static double steps(void) {
    const struct ex_case *c = &ex_current_exercise()->technique_case;
    return count(c) * c->dim[WIDTH] * (c->dim[WIDTH] + 1.0) / 6;
}

/* With a walk a thread, a warp repeats its loop of 9 instructions until the longest of its 32 walks
 * has left, 4.5 times the average: 32 idle lanes for each step, 41 instructions for 32 steps. With
 * a vote after each step there are 8 idle lanes, and 33 instructions, since the vote takes some,
 * too. With 16 steps between votes it is 4 and 14. Finished lanes might step on uselessly
 * instead of waiting, so the instructions are limited as well: a step takes at least five, and 4.5
 * times five is 22. */
START_TEST(lanes_take_new_walks) {
    ex_require_at_most_per("inactive_lanes", steps(), "step of a walk", 8,
                           "a lane whose walk has ended can take another one while the others of "
                           "its warp still walk");
    ex_require_at_most_per("inst_executed", steps() / 32, "32 steps", 20,
                           "steps of finished lanes and votes take issue slots, too: vote rarely, "
                           "and give a warp many more than 32 walks");
    ex_require_at_most_per("device_read_accesses", ex_element_count(0), "walk", 8,
                           "a walk's state fits into registers: rounds that pass it on through "
                           "memory need few reads for each walk");
}
END_TEST

START_TEST(many_SMs_work) { ex_require_min_blocks(EX_MIN_BLOCKS); }
END_TEST

/* Ideas that separate the ladder's last steps, and other ways to the goal, from the model solution.
 */
static void ideas(void) {
    ex_suggest(ex_metric_value("atomic_operations") > 32 * 132,
               "give each warp or block a range of its own: one counter for all is one address",
               "05-atomics-reduction", "When it doesn't pay");
    ex_suggest(ex_metric_value("inst_executed") > 16 * steps() / 32,
               "take more steps between two votes, unrolled", "10-warps", "By hand: divergence");
    ex_suggest(true, "find both walls with one comparison of unsigned numbers", "10-warps",
               "By hand: divergence");
}

static void tests(TCase *correctness, TCase *goals, TCase *guards) {
    tcase_add_loop_test(correctness, matches_the_reference, 0, EX_COUNT(cases));
    tcase_add_test(goals, lanes_take_new_walks);
    tcase_add_test(guards, many_SMs_work);
}

/* The longest of 32 walks takes 4.5 times the average, so the technique gains up to that. */
EXERCISE(divergence, .chapter = "10-warps", .title = "Walks of unequal length", .args = args,
         .nargs = EX_COUNT(args), .cases = cases, .ncases = EX_COUNT(cases),
         .draw = {.dim = {{1, 20000}, {2, 60}},
                  .max_product = 300000,
                  .variants = {"starts anywhere", "all start in the middle", "all start at a wall",
                               "one long walk in each 32"}},
         .technique_case = {{1 << 17, 32}}, .timed_case = {{1 << 20, 32}}, .reference = reference,
         .bytes = bytes, .points = {.correctness = 0, .technique = 65, .speed = 35}, .tests = tests,
         .ideas = ideas, .baseline = "1-walk-a-thread");
