/* block_size_test.c — an echo filter whose blocks need 160 bytes of shared memory for each thread;
 * graded on occupancy. */
#include "common/exercise_limits.h"

enum { SIGNALS, LENGTH, DELAY = 40 };
enum { OUT, IN }; /* arguments */
enum { IN_PLACE = 1 };

static size_t count(const struct ex_case *c) { return (size_t)c->dim[SIGNALS] * c->dim[LENGTH]; }

static int out_is_in(const struct ex_case *c) { return c->variant == IN_PLACE ? IN + 1 : 0; }

static void reference(const struct ex_case *c, void *const host[], void *const expected[]) {
    const float *in = host[IN];
    double *out = expected[OUT], *after = expected[IN];
    size_t delay = (size_t)DELAY * c->dim[SIGNALS];
    for (size_t i = 0; i < count(c); i++) {
        out[i] = in[i] + (i >= delay ? 0.5 * out[i - delay] : 0);
        if (c->variant == IN_PLACE) after[i] = out[i];
    }
}

/* |out| <= 2; each step halves the old error and rounds once (the half is exact): at most 2u + u +
 * ... = 4u. */
static double tolerance(const struct ex_case *c, void *const host[], int arg, size_t index,
                        double expected) {
    (void)host, (void)index, (void)expected;
    return arg == IN && c->variant != IN_PLACE ? 0 : 4 * EX_ROUNDOFF_F32;
}

static double bytes(const struct ex_case *c) { return 8.0 * count(c); }
static double flops(const struct ex_case *c) { return 2.0 * count(c); }

static const struct ex_arg args[] = {
    {.name = "out",
     .role = EX_OUT,
     .type = EX_F32,
     .count = count,
     .shape = {LENGTH + 1, SIGNALS + 1},
     .alias = out_is_in},
    {.name = "in",
     .role = EX_INOUT,
     .type = EX_F32,
     .count = count,
     .shape = {LENGTH + 1, SIGNALS + 1}},
    {.name = "signals", .role = EX_SCALAR, .type = EX_I32, .dim = SIGNALS},
    {.name = "length", .role = EX_SCALAR, .type = EX_I32, .dim = LENGTH},
};

static const struct ex_case cases[] = {
    {{0, 5}, .label = "no signals"},
    {{5, 0}, .label = "no samples"},
    {{1, 1}, .label = "one sample"},
    {{31, 39}, .label = "one less than a warp, one less than the delay"},
    {{32, 40}, .label = "a warp, exactly the delay"},
    {{33, 41}, .label = "one more than a warp, the first echo"},
    {{1009, 97}, .label = "primes: several blocks, two rounds of the ring"},
    {{257, 130}, .label = "three rounds of the ring"},
    {{33, 41}, IN_PLACE, "out is in, the first echo"},
    {{257, 130}, IN_PLACE, "out is in, three rounds of the ring"},
};

START_TEST(matches_the_reference) { ex_check_case(&cases[_i]); }
END_TEST

/* Returns the highest occupancy of blocks of whole warps on the graded device, with 160 bytes of
 * shared memory for each thread, at most 48 KB for each block (more requires an opt-in) and enough
 * registers. An H200's SM has 228 KB of shared memory, of which each block takes 1 KB extra, and
 * can hold 64 warps and 32 blocks. Blocks of 32 threads give 32 warps (50 %), of 128 or 256 give 40
 * (62.5 %), of 96, 192 or 224 give 42 (65.6 %), the maximum. A T4's SM, with 64 KB and 32 warps,
 * reaches 12 warps (37.5 %). */
static double best_occupancy(void) {
    double best = 0;
    for (unsigned threads = 32; threads * DELAY * 4 <= 48 << 10; threads += 32) {
        double occupancy = ex_theoretical_occupancy(threads, 32, threads * DELAY * 4);
        if (occupancy > best) best = occupancy;
    }
    return best;
}

START_TEST(occupancy_is_high) {
    ex_require_at_least(
        "theoretical_occupancy", 0.99 * best_occupancy(),
        "each warp waits for its own loads; the more there are, the more are in flight");
}
END_TEST

START_TEST(accesses_are_coalesced) {
    ex_require_coalesced_loads(1.125, "the samples of neighbouring signals lie side by side");
    ex_require_at_most("bank_conflicts", 0, "lane t keeps its ring in bank t mod 32");
    ex_require_at_most_per("device_read_accesses", count(&ex_current_exercise()->technique_case),
                           "sample", 1, "what was 40 samples ago is in shared memory, not in out");
    ex_require_at_most(
        "local_requests", 0,
        "an array that is indexed by a variable lives in memory: use the shared one");
}
END_TEST

START_TEST(many_SMs_work) { ex_require_min_blocks(2); }
END_TEST

/* Ideas that separate the ladder's last steps from the model solution. */
static void ideas(void) {
    ex_suggest(true,
               "read four samples of a signal before you write the first, so that each thread has "
               "four loads in flight",
               "06-occupancy", "By hand: block_size");
}

static void tests(TCase *correctness, TCase *goals, TCase *guards) {
    tcase_add_loop_test(correctness, matches_the_reference, 0, EX_COUNT(cases));
    tcase_add_test(goals, occupancy_is_high);
    tcase_add_test(guards, accesses_are_coalesced);
    tcase_add_test(guards, many_SMs_work);
}

/* Timed with 16 632 warps, 126 for each of an H200's 132 SMs: three waves of 42 warps, or four of
 * 40 or 32. */
EXERCISE(block_size, .chapter = "06-occupancy", .title = "How many threads in a block",
         .args = args, .nargs = EX_COUNT(args), .cases = cases, .ncases = EX_COUNT(cases),
         .draw = {.dim = {{1, 1200}, {1, 140}},
                  .max_product = 100000,
                  .variants = {"", "out is in"}},
         .technique_case = {{2048, 64}}, .timed_case = {{532224, 41}}, .reference = reference,
         .tolerance = tolerance, .bytes = bytes, .flops = flops,
         .points = {.correctness = 0, .technique = 80, .speed = 20}, .tests = tests, .ideas = ideas,
         .baseline = "1-blocks-of-32");
