/* alias_trap_test.c — level[s] += rate[s] * (x[j][s] - level[s]) for j = 0, 1, ..., where level may
 * be a row of x. */
#include "common/exercise_limits.h"

enum { SIGNALS, LENGTH, ROW }; /* ROW: with variant 1, the level is this row of x */
enum { LEVEL, X, RATE };       /* arguments */

static size_t count_signals(const struct ex_case *c) { return (size_t)c->dim[SIGNALS]; }
static size_t count_x(const struct ex_case *c) { return (size_t)c->dim[SIGNALS] * c->dim[LENGTH]; }
static int level_in_x(const struct ex_case *c) { return c->variant == 1 ? X + 1 : 0; }
static size_t level_offset(const struct ex_case *c) {
    return (size_t)c->dim[SIGNALS] * c->dim[ROW];
}

static void choose_row(struct ex_case *c, struct ex_rng *r) {
    if (c->variant == 1) c->dim[ROW] = ex_uniform_int(r, 0, c->dim[LENGTH] - 1);
}

static void fill_rate(const struct ex_case *c, struct ex_rng *r, void *data, size_t count) {
    (void)c;
    for (size_t i = 0; i < count; i++) ((float *)data)[i] = (float)ex_uniform(r, 0.1, 0.9);
}

/* Computes in the program's order: if the level is a row of x, a later step reads the values that
 * an earlier step stored. */
static void reference(const struct ex_case *c, void *const host[], void *const expected[]) {
    double *level = expected[LEVEL], *x = expected[X];
    const float *rate = host[RATE];
    long signals = c->dim[SIGNALS], length = c->dim[LENGTH],
         row = c->variant == 1 ? c->dim[ROW] : -1;
    for (long s = 0; s < signals; s++) {
        double now = row >= 0 ? x[row * signals + s] : level[s];
        for (long j = 0; j < length; j++)
            now += rate[s] * ((j == row ? now : x[j * signals + s]) - now);
        level[s] = now;
        if (row >= 0) x[row * signals + s] = now;
    }
}

/* |x|, |level| <= 1 throughout (each step is a weighted mean). A step rounds the difference (<= 2u,
 * times rate < 1) and the sum (u), and multiplies the old error by a factor below 1: at most 3u a
 * step. One more u is slack. */
static double tolerance(const struct ex_case *c, void *const host[], int arg, size_t index,
                        double expected) {
    (void)host, (void)index, (void)expected;
    return arg == RATE ? 0 : 4 * EX_ROUNDOFF_F32 * (c->dim[LENGTH] + 1);
}

static double bytes(const struct ex_case *c) { return 4.0 * (count_x(c) + 3 * count_signals(c)); }
static double flops(const struct ex_case *c) { return 3.0 * count_x(c); }

static const struct ex_arg args[] = {
    {.name = "level",
     .role = EX_INOUT,
     .type = EX_F32,
     .count = count_signals,
     .alias = level_in_x,
     .alias_offset = level_offset},
    {.name = "x", .role = EX_INOUT, .type = EX_F32, .count = count_x},
    {.name = "rate", .role = EX_IN, .type = EX_F32, .count = count_signals, .fill = fill_rate},
    {.name = "signals", .role = EX_SCALAR, .type = EX_I32, .dim = SIGNALS},
    {.name = "length", .role = EX_SCALAR, .type = EX_I32, .dim = LENGTH},
};

static const struct ex_case cases[] = {
    {{0, 5}, .label = "no signals: nothing to launch"},
    {{7, 0}, .label = "no samples: the level stays"},
    {{1, 1}, .label = "one sample"},
    {{31, 9}, .label = "one less than a warp"},
    {{33, 32}, .label = "one more than a warp"},
    {{127, 13}, .label = "prime sizes"},
    {{300, 33}, .label = "several blocks"},
    {{64, 20, 0}, 1, "the level is the first row of x"},
    {{64, 20, 19}, 1, "the level is the last row of x"},
    {{129, 17, 6}, 1, "the level is a row in the middle of x"},
};

START_TEST(matches_the_reference) { ex_check_case(&cases[_i]); }
END_TEST

/* 64 samples, the rate and the level are 66 loads a signal, 1.03 a sample; 2.02 if each step
 * reloads the rate. */
START_TEST(rate_is_loaded_once) {
    ex_require_at_most_per(
        "device_read_accesses", count_x(&ex_current_exercise()->technique_case), "sample", 1.125,
        "each sample is needed once, and the rate once for all samples of its signal");
}
END_TEST

START_TEST(samples_are_coalesced) {
    ex_require_coalesced_loads(
        1.125, "neighbouring signals lie side by side, so a warp's samples are 4 sectors");
}
END_TEST

/* Ideas that separate the ladder's last steps from the model solution. */
static void ideas(void) {
    ex_suggest(true,
               "compare the pointers first, keep the level in a register, and load eight samples "
               "before you use the first",
               "01-restrict", "By hand: alias_trap");
}

static void tests(TCase *correctness, TCase *goals, TCase *guards) {
    tcase_add_loop_test(correctness, matches_the_reference, 0, EX_COUNT(cases));
    tcase_add_test(goals, rate_is_loaded_once);
    tcase_add_test(guards, samples_are_coalesced);
}

EXERCISE(alias_trap, .chapter = "01-restrict", .title = "Promise only what every caller keeps",
         .args = args, .nargs = EX_COUNT(args), .cases = cases, .ncases = EX_COUNT(cases),
         .draw = {.dim = {{1, 400}, {1, 40}},
                  .variants = {"", "the level is a row of x"},
                  .adjust = choose_row},
         .technique_case = {{1024, 64}}, .timed_case = {{1 << 18, 64}}, .reference = reference,
         .tolerance = tolerance, .bytes = bytes, .flops = flops,
         .points = {.correctness = 0, .technique = 60, .speed = 40}, .tests = tests, .ideas = ideas,
         .baseline = "1-unqualified");
