/* time_tiles_test.c — steps of heat flow in a plate, in floats, bit by bit; graded on how often the
 * plate goes to memory and comes back. */
#include "common/exercise_limits.h"

#include <stdlib.h>
#include <string.h>

enum { ROWS, COLS, STEPS };
enum { ANY, HOT_EDGE }; /* variants: any temperatures; the edge is hot, the inside is 0 */

static size_t count(const struct ex_case *c) { return (size_t)(c->dim[ROWS] * c->dim[COLS]); }

static bool is_edge(const struct ex_case *c, long y, long x) {
    return y == 0 || x == 0 || y == c->dim[ROWS] - 1 || x == c->dim[COLS] - 1;
}

static void fill(const struct ex_case *c, struct ex_rng *r, void *data, size_t n) {
    float *in = data;
    for (size_t i = 0; i < n; i++) {
        long y = (long)i / c->dim[COLS], x = (long)i % c->dim[COLS];
        float value = (float)ex_uniform(r, -1, 1);
        in[i] = c->variant == HOT_EDGE && !is_edge(c, y, x) ? 0 : value;
    }
}

/* One step of a row. The order of the sums is the task's. A product by 4 or 1/8 is exact, so it
 * doesn't matter whether a compiler fuses it with the next sum. */
EX_VECTORIZED static void step_row(float *next, const float *now, long cols) {
    for (long x = 1; x < cols - 1; x++) {
        float sum = (now[x - cols] + now[x + cols]) + (now[x - 1] + now[x + 1]);
        next[x] = now[x] + 0.125f * (sum - 4.0f * now[x]);
    }
}

static void reference(const struct ex_case *c, void *const host[], void *const expected[]) {
    double *out = expected[0];
    long rows = c->dim[ROWS], cols = c->dim[COLS];
    size_t n = count(c), bytes = (n + 1) * sizeof(float);
    float *now = malloc(bytes), *next = malloc(bytes);
    if (!now || !next) abort();
    memcpy(now, host[1], n * sizeof *now);
    memcpy(next, host[1], n * sizeof *next); /* elements at the edge stay */
    for (long s = 0; s < c->dim[STEPS]; s++) {
        for (long y = 1; y < rows - 1; y++) step_row(next + y * cols, now + y * cols, cols);
        float *swap = now;
        now = next, next = swap;
    }
    for (size_t i = 0; i < n; i++) out[i] = now[i];
    free(now), free(next);
}

static double bytes(const struct ex_case *c) { return 8.0 * (double)count(c); }
/* Four additions, a product and a subtraction fused, and a product and an addition fused. */
static double flops(const struct ex_case *c) { return 7.0 * (double)count(c) * c->dim[STEPS]; }

static const struct ex_arg args[] = {
    {.name = "out", .role = EX_OUT, .type = EX_F32, .count = count, .shape = {ROWS + 1, COLS + 1}},
    {.name = "in",
     .role = EX_IN,
     .type = EX_F32,
     .count = count,
     .fill = fill,
     .shape = {ROWS + 1, COLS + 1}},
    {.name = "rows", .role = EX_SCALAR, .type = EX_I32, .dim = ROWS},
    {.name = "cols", .role = EX_SCALAR, .type = EX_I32, .dim = COLS},
    {.name = "steps", .role = EX_SCALAR, .type = EX_I32, .dim = STEPS},
};

static const struct ex_case cases[] = {
    {{0, 8, 3}, .label = "no rows: nothing to launch"},
    {{5, 0, 3}, .label = "no columns: nothing to launch"},
    {{1, 4, 2}, .label = "one row: all of it is edge"},
    {{3, 4, 7}, .label = "one row between two edges"},
    {{70, 4, 5}, .label = "two columns between two edges"},
    {{33, 36, 1}, .label = "one step, one past 32"},
    {{24, 24, 4}, HOT_EDGE, "four steps"},
    {{25, 28, 8}, HOT_EDGE, "eight steps"},
    {{97, 116, 9}, .label = "nine steps"},
    {{64, 64, 16}, HOT_EDGE, "sixteen steps, powers of two"},
    {{131, 60, 17}, .label = "seventeen steps, a prime"},
    {{20, 260, 61}, .label = "more steps than rows"},
    {{250, 300, 6}, .label = "many rows and columns"},
};

START_TEST(matches_the_reference) { ex_check_case(&cases[_i]); }
END_TEST

static double plate(void) { return (double)count(&ex_current_exercise()->technique_case); }
static double updates(void) {
    return plate() * (double)ex_current_exercise()->technique_case.dim[STEPS];
}

/* A launch for each step writes the plate 16 times, and reads it 16 * 22 / 4 times: five loads, of
 * 4, 4, 4, 5 and 5 sectors for 32 elements. A tile for a single step reads it at least 16 times.
 * With four steps for each launch, tiles of 32 x 32 with a halo of four have 24 x 24 elements that
 * are right at the end, and their rows begin in the middle of a sector: 4 * (32 / 24)^2 * 5 / 4 =
 * 8.9 times, and 4 writes. */
START_TEST(several_steps_for_each_pass_over_memory) {
    ex_require_at_most_per("device_read_sectors", plate() / 8, "sector of the plate", 10,
                           "a tile with a halo of four can take four steps before it goes back");
    ex_require_at_most_per("device_write_sectors", plate() / 8, "sector of the plate", 4.75,
                           "only the last of four steps has to be written");
    ex_require_at_most_per("local_requests", updates() / 32, "32 elements and steps", 0.1,
                           "rows in registers need indices that the compiler knows");
}
END_TEST

START_TEST(accesses_are_coalesced) {
    ex_require_packed_loads_on_average(1.35, "neighbouring lanes load neighbours of a row");
    ex_require_packed_stores_on_average(1.25, "neighbouring lanes store neighbours of a row");
}
END_TEST

START_TEST(few_bank_conflicts) {
    ex_require_at_most_per("bank_conflicts", updates() / 32, "32 elements and steps", 0.25,
                           "neighbouring lanes use neighbouring words of shared memory");
}
END_TEST

START_TEST(many_SMs_work) { ex_require_min_blocks(32); }
END_TEST

/* Ideas that separate the ladder's last steps from the model solution. */
static void ideas(void) {
    double shared = ex_metric_value("shared_requests_total") / (updates() / 32);
    ex_suggest(shared > 4,
               "give each thread several rows of a column, so that its neighbours above and below "
               "are in registers",
               "12-sparse-and-stencil", "By hand: time_tiles");
    ex_suggest(shared > 0.5,
               "let a warp slide down with two rows of each step in registers, and shuffle the "
               "neighbours left and right",
               "12-sparse-and-stencil", "By hand: time_tiles");
}

static void tests(TCase *correctness, TCase *goals, TCase *guards) {
    tcase_add_loop_test(correctness, matches_the_reference, 0, EX_COUNT(cases));
    tcase_add_test(goals, several_steps_for_each_pass_over_memory);
    tcase_add_test(guards, accesses_are_coalesced);
    tcase_add_test(guards, few_bank_conflicts);
    tcase_add_test(guards, many_SMs_work);
}

/* Timed with a plate of 67 MB, which is more than L2 holds. */
EXERCISE(time_tiles, .chapter = "12-sparse-and-stencil", .title = "Several steps for each pass",
         .args = args, .nargs = EX_COUNT(args), .cases = cases, .ncases = EX_COUNT(cases),
         .draw = {.dim = {{1, 200}, {4, 300, .step = 4}, {1, 20}},
                  .max_product = 400000,
                  .variants = {"any temperatures", "the edge is hot, the inside is 0"}},
         .technique_case = {{384, 512, 16}}, .timed_case = {{4096, 4096, 16}},
         .reference = reference, .bytes = bytes, .flops = flops,
         .points = {.correctness = 0, .technique = 50, .speed = 50}, .tests = tests, .ideas = ideas,
         .baseline = "1-launch-a-step");
