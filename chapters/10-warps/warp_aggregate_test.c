/* warp_aggregate_test.c — sums by key, where the lanes of a warp share few of many keys; graded on
 * the number of atomics. */
#include "common/exercise_limits.h"

enum { N, GROUP_COUNT };
enum { FEW, EQUAL, DIFFERENT, UNIFORM, TURNS, LARGE }; /* variants: which keys a warp has */
enum { STRETCH = 128, ACTIVE = 4 };                    /* elements in a row, and their keys */

static size_t count(const struct ex_case *c) { return (size_t)c->dim[N]; }
static size_t groups(const struct ex_case *c) { return (size_t)c->dim[GROUP_COUNT]; }

static long any(const struct ex_case *c, struct ex_rng *r) {
    return ex_uniform_int(r, 0, c->dim[GROUP_COUNT] - 1);
}

/* FEW: records in order of time, with a few active groups at a time. TURNS: two alternating keys.
 */
static int32_t key(const struct ex_case *c, struct ex_rng *r, const long *active, size_t i) {
    switch (c->variant) {
    case FEW:
    case LARGE: return (int32_t)active[ex_random(r) % ACTIVE];
    case EQUAL: return (int32_t)(c->dim[GROUP_COUNT] - 1);
    case DIFFERENT: return (int32_t)(i % (size_t)c->dim[GROUP_COUNT]);
    case TURNS: return (int32_t)(i % 2 ? c->dim[GROUP_COUNT] - 1 : 0);
    default: return (int32_t)any(c, r);
    }
}

static void fill_keys(const struct ex_case *c, struct ex_rng *r, void *data, size_t n) {
    long active[ACTIVE] = {0};
    for (size_t i = 0; i < n; i++) {
        for (int k = 0; i % STRETCH == 0 && k < ACTIVE; k++) active[k] = any(c, r);
        ((int32_t *)data)[i] = key(c, r, active, i);
    }
}

/* LARGE: above 2^22, so that a float can't hold a sum of five exactly; 300 of them stay below
 * 2^31. */
static void fill_values(const struct ex_case *c, struct ex_rng *r, void *data, size_t n) {
    int32_t *x = data;
    for (size_t i = 0; i < n; i++) x[i] = (int32_t)ex_uniform_int(r, -100, 100);
    for (size_t i = 0; c->variant == LARGE && i < n; i++) x[i] = (1 << 22) + (int32_t)i;
}

static void reference(const struct ex_case *c, void *const host[], void *const expected[]) {
    const int32_t *keys = host[1], *values = host[2];
    int64_t *sums = expected[0];
    for (long i = 0; i < c->dim[N]; i++) sums[keys[i]] += values[i];
}

static double bytes(const struct ex_case *c) { return 8.0 * count(c) + 4.0 * groups(c); }
static double flops(const struct ex_case *c) { return count(c); }

static const struct ex_arg args[] = {
    {.name = "sums", .role = EX_OUT, .type = EX_I32, .count = groups},
    {.name = "keys", .role = EX_IN, .type = EX_I32, .count = count, .fill = fill_keys},
    {.name = "values", .role = EX_IN, .type = EX_I32, .count = count, .fill = fill_values},
    {.name = "n", .role = EX_SCALAR, .type = EX_I32, .dim = N},
    {.name = "groups", .role = EX_SCALAR, .type = EX_I32, .dim = GROUP_COUNT},
};

static const struct ex_case cases[] = {
    {{0, 7}, .label = "no elements: all sums are 0"},
    {{1, 1}, .label = "one element, one group"},
    {{31, 1}, EQUAL, "one less than a warp, all of one group"},
    {{32, 32}, DIFFERENT, "a warp, all keys different"},
    {{33, 2}, TURNS, "one more than a warp, two keys by turns"},
    {{255, 5}, FEW, "one less than a block"},
    {{257, 1000}, UNIFORM, "one more than a block, more groups than elements"},
    {{1009, 77}, FEW, "a prime"},
    {{300, 3}, LARGE, "sums that a float does not hold"},
    {{10007, 13}, UNIFORM, "a prime, some lanes share a key"},
    {{65537, 65537}, FEW, "one past a power of two"},
    {{300007, 4099}, FEW, "more than a round of the grid, primes"},
};

START_TEST(matches_the_reference) { ex_check_case(&cases[_i]); }
END_TEST

static double warps(void) { return count(&ex_current_exercise()->technique_case) / 32.0; }

/* With four keys in 128 elements, a warp has 4 keys, rarely 3, so it needs 4 atomics; the baseline
 * makes 32. The test also refuses atomics on a table in shared memory without aggregation (32
 * operations, 8 or more lanes on one word), one lane that adds up 32 elements, and a sort in
 * memory. */
START_TEST(atomics_are_aggregated) {
    ex_require_at_most_per(
        "atomic_operations", warps(), "warp of elements", 6,
        "lanes with the same key can add up first, and one of them updates memory");
    ex_require_at_most_per("device_write_accesses", warps(), "warp of elements", 7,
                           "sums that another kernel adds up take stores, too");
    ex_require_at_most_per("shared_atomic_operations", warps(), "warp of elements", 6,
                           "atomics on one word of shared memory are serialized");
    ex_require_at_most_per("shared_requests_total", warps(), "warp of elements", 8,
                           "lanes can hand values to each other without memory");
    ex_require_at_most_per("local_requests", warps(), "warp of elements", 1,
                           "values can stay in registers");
    ex_require_at_most_per("device_read_sectors", warps() * 8, "sector of the input", 1.25,
                           "keys and values are read once");
    ex_require_at_most_per("inst_executed", warps(), "warp of elements", 128,
                           "work that one lane does for 32 takes the warp 32 times as long");
}
END_TEST

START_TEST(reads_are_coalesced) {
    ex_require_coalesced_loads(1.125, "neighbouring lanes look at neighbouring elements");
}
END_TEST

START_TEST(many_SMs_work) { ex_require_min_blocks(EX_MIN_BLOCKS); }
END_TEST

/* Ideas that separate the ladder's last steps from the model solution. */
static void ideas(void) {
    ex_suggest(ex_metric_value("inst_executed") > 48 * warps(),
               "find the lanes of all keys at once by __match_any_sync", "10-warps",
               "By hand: warp_aggregate");
    ex_suggest(true, "let a lane load several elements before the first match", "00-roofline",
               "Example: one element a thread, or several");
}

static void tests(TCase *correctness, TCase *goals, TCase *guards) {
    tcase_add_loop_test(correctness, matches_the_reference, 0, EX_COUNT(cases));
    tcase_add_test(goals, atomics_are_aggregated);
    tcase_add_test(guards, reads_are_coalesced);
    tcase_add_test(guards, many_SMs_work);
}

/* 65 536 groups are 256 KB, more than a block's shared memory, so private copies as in `histogram`
 * don't fit. Timed with 128 MB. */
EXERCISE(warp_aggregate, .chapter = "10-warps", .title = "One lane for all of a key", .args = args,
         .nargs = EX_COUNT(args), .cases = cases, .ncases = EX_COUNT(cases),
         .draw = {.dim = {{1, 100000}, {1, 70000}},
                  .variants = {"four keys by stretches", "all of one group"}},
         .technique_case = {{1 << 20, 1 << 16}}, .timed_case = {{1 << 24, 1 << 16}},
         .reference = reference, .bytes = bytes, .flops = flops,
         .points = {.correctness = 0, .technique = 50, .speed = 50}, .tests = tests, .ideas = ideas,
         .baseline = "1-atomics");
