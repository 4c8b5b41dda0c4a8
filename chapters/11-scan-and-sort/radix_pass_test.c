/* radix_pass_test.c — one stable pass of a radix sort; graded on how keys find their positions, and
 * on how they are moved there. */
#include "common/exercise_limits.h"

enum { ANY, EQUAL, RISING, FALLING, TWO }; /* variants: the keys' digits */

enum { N, SHIFT, DIGITS = 16 };

static size_t count(const struct ex_case *c) { return (size_t)c->dim[N]; }

/* All 32 bits are random, so that keys with equal digits differ and their order is visible. */
static uint32_t draw(const struct ex_case *c, struct ex_rng *r, size_t i, size_t n) {
    uint32_t key = (uint32_t)ex_random(r), mask = (uint32_t)(DIGITS - 1) << c->dim[SHIFT], digit;
    switch (c->variant) {
    case EQUAL: digit = 5; break;
    case RISING: digit = (uint32_t)(i * DIGITS / n); break;
    case FALLING: digit = (uint32_t)((n - 1 - i) * DIGITS / n); break;
    case TWO: digit = key & 1 ? DIGITS - 1 : 0; break;
    default: return key;
    }
    return (key & ~mask) | digit << c->dim[SHIFT];
}

static void fill(const struct ex_case *c, struct ex_rng *r, void *data, size_t n) {
    uint32_t *x = data;
    for (size_t i = 0; i < n; i++) x[i] = draw(c, r, i, n);
}

static void reference(const struct ex_case *c, void *const host[], void *const expected[]) {
    const uint32_t *in = host[1];
    int64_t *out = expected[0];
    for (uint32_t digit = 0; digit < DIGITS; digit++)
        for (long i = 0; i < c->dim[N]; i++)
            if ((in[i] >> c->dim[SHIFT]) % DIGITS == digit) *out++ = in[i];
}

static double bytes(const struct ex_case *c) { return 8.0 * count(c); }
static double flops(const struct ex_case *c) { return count(c); }

static const struct ex_arg args[] = {
    {.name = "out", .role = EX_OUT, .type = EX_U32, .count = count},
    {.name = "in", .role = EX_IN, .type = EX_U32, .count = count, .fill = fill},
    {.name = "n", .role = EX_SCALAR, .type = EX_I32, .dim = N},
    {.name = "shift", .role = EX_SCALAR, .type = EX_I32, .dim = SHIFT},
};

static const struct ex_case cases[] = {
    {{0, 0}, .label = "no keys"},
    {{1, 28}, .label = "one key, the highest digit"},
    {{31, 0}, .label = "one less than a warp, the lowest digit"},
    {{33, 4}, EQUAL, "one more than a warp, all of one digit"},
    {{257, 28}, FALLING, "one more than a block, digits falling"},
    {{1024, 8}, TWO, "the lowest and the highest digit"},
    {{4097, 12}, RISING, "one past a power of two, digits rising"},
    {{10007, 20}, .label = "a prime"},
    {{65535, 16}, EQUAL, "one less than a power of two, all of one digit"},
    {{65537, 24}, FALLING, "one past a power of two, digits falling"},
    {{300007, 4}, .label = "more than a round a block, a prime"},
};

START_TEST(matches_the_reference) { ex_check_case(&cases[_i]); }
END_TEST

static double elements(void) { return count(&ex_current_exercise()->technique_case); }

START_TEST(lanes_match_their_digits) {
    ex_require_at_most_per(
        "shared_read_requests_total", elements() / 256, "256 keys", 64,
        "a match or four votes find the lanes with the same digit; no lane has to "
        "walk over the digits");
    ex_require_at_most_per("inst_executed", elements() / 32, "warp of keys", 150,
                           "work of 16 lanes takes their warp as long as work of all lanes");
    ex_require_at_most_per("local_requests", elements() / 32, "warp of keys", 0.25,
                           "counters in local memory go through L1");
    ex_require_at_most_per("atomic_operations", elements() / 256, "256 keys", 16,
                           "a block updates memory once for each digit");
    ex_require_at_most_per("device_read_sectors", elements() / 8, "sector of the input", 2.5,
                           "keys are read once to count and once to move");
}
END_TEST

START_TEST(key_writes_are_coalesced) {
    ex_require_at_most_per("device_write_sectors", elements() / 8, "sector of the output", 1.5,
                           "keys in order in shared memory leave in runs of neighbours");
    ex_require_at_most_per("device_read_sectors", elements() / 8, "sector of the input", 2.5,
                           "keys are read twice on all paths together");
}
END_TEST

START_TEST(reads_are_coalesced) {
    ex_require_coalesced_loads(1.25, "neighbouring lanes look at neighbouring keys");
}
END_TEST

START_TEST(many_SMs_work) { ex_require_min_blocks(EX_MIN_BLOCKS); }
END_TEST

/* Ideas that separate the ladder's last step from the model solution. Three barriers for each 256
 * keys are three for each warp of keys; for each 2048 keys, they are 3/8. */
static void ideas(void) {
    ex_suggest(ex_metric_value("barriers") > elements() / 32,
               "sort 2048 keys at a time in shared memory: fewer barriers, and longer runs of "
               "neighbours",
               "11-scan-and-sort", "By hand: radix_pass");
    ex_suggest(ex_metric_value("shared_load_requests") > 4 * elements() / 32,
               "find the lanes with a digit by four votes, and keep its count in a register",
               "10-warps", "What the hardware does");
}

static void tests(TCase *correctness, TCase *goals, TCase *guards) {
    tcase_add_loop_test(correctness, matches_the_reference, 0, EX_COUNT(cases));
    tcase_add_test(goals, lanes_match_their_digits);
    tcase_add_test(goals, key_writes_are_coalesced);
    tcase_add_test(guards, reads_are_coalesced);
    tcase_add_test(guards, many_SMs_work);
}

/* The technique case has uniform digits. Timed with 64 MB in and 64 MB out, which is more than L2
 * holds. */
EXERCISE(radix_pass, .chapter = "11-scan-and-sort", .title = "A pass of a radix sort", .args = args,
         .nargs = EX_COUNT(args), .cases = cases, .ncases = EX_COUNT(cases),
         .draw = {.dim = {{1, 200000}, {0, 28, .step = 4}},
                  .variants = {"any keys", "all of one digit", "digits rising", "digits falling",
                               "two digits"}},
         .technique_case = {{1 << 20, 8}}, .timed_case = {{1 << 24, 8}}, .reference = reference,
         .bytes = bytes, .flops = flops, .points = {.correctness = 0, .technique = 50, .speed = 50},
         .tests = tests, .ideas = ideas, .baseline = "1-walk");
