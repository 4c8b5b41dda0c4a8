/* warp_sync_test.c — sorts groups of 32. The starter file relies on lanes in lockstep. Graded on
 * warp barriers instead of block barriers, and on keys that stay in registers. */
#include "common/exercise_limits.h"

#include <stdlib.h>

enum { GROUP = 32 };
enum { ANY, DOWN, SORTED, EQUAL, ENDS }; /* variants: order of the input */

static size_t count(const struct ex_case *c) { return (size_t)c->dim[0]; }

/* ENDS: the largest and the smallest integers, which versions also use to pad a group. */
static int32_t draw(const struct ex_case *c, struct ex_rng *r, size_t i) {
    switch (c->variant) {
    case DOWN: return (int32_t)(c->dim[0] - (long)i);
    case SORTED: return (int32_t)i;
    case EQUAL: return 17;
    case ENDS: return ex_random(r) & 1 ? INT32_MAX : INT32_MIN;
    default: return (int32_t)ex_uniform_int(r, INT32_MIN, INT32_MAX);
    }
}

static void fill(const struct ex_case *c, struct ex_rng *r, void *data, size_t n) {
    for (size_t i = 0; i < n; i++) ((int32_t *)data)[i] = draw(c, r, i);
}

static int by_value(const void *a, const void *b) {
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* expected[0] starts as a copy of the input. */
static void reference(const struct ex_case *c, void *const host[], void *const expected[]) {
    (void)host;
    int64_t *out = expected[0];
    for (long first = 0; first < c->dim[0]; first += GROUP) {
        long left = c->dim[0] - first;
        qsort(out + first, (size_t)(left < GROUP ? left : GROUP), sizeof *out, by_value);
    }
}

static double bytes(const struct ex_case *c) { return 8.0 * count(c); }
static double flops(const struct ex_case *c) { return count(c); }

static const struct ex_arg args[] = {
    {.name = "data", .role = EX_INOUT, .type = EX_I32, .count = count, .fill = fill},
    {.name = "n", .role = EX_SCALAR, .type = EX_I32, .dim = 0},
};

static const struct ex_case cases[] = {
    {{0}, .label = "no elements"},
    {{1}, .label = "one element"},
    {{31}, DOWN, "one less than a group, falling"},
    {{32}, DOWN, "a group, falling"},
    {{33}, .label = "one more than a group"},
    {{64}, SORTED, "two groups, sorted"},
    {{255}, ENDS, "one less than a block, the largest and smallest integers"},
    {{257}, .label = "one more than a block"},
    {{1000}, EQUAL, "all equal"},
    {{10007}, .label = "a prime"},
    {{65537}, .label = "one past a power of two"},
};

START_TEST(matches_the_reference) { ex_check_case(&cases[_i]); }
END_TEST

static double groups(void) { return count(&ex_current_exercise()->technique_case) / GROUP; }

/* 15 rounds with two block barriers each are 30 for each group. */
static void require_no_block_barriers(void) {
    ex_require_at_most_per("barriers", groups(), "group", 2,
                           "the lanes of a group are one warp, and need no other one");
    ex_require_at_most_per("device_read_sectors", groups() * 4, "sector of the data", 1.25,
                           "keys are read once, not in each round");
    ex_require_at_most_per("device_write_accesses", groups() * GROUP, "element", 1.25,
                           "and written once");
    ex_require_at_most_per("local_requests", groups(), "group", 4, "values can stay in registers");
    ex_require_at_most_per("atomic_operations", groups(), "group", 1,
                           "lanes of one warp need no atomics in memory to wait for each other");
    ex_require_at_most_per("shared_atomic_operations", groups(), "group", 1,
                           "lanes of one warp need no shared atomics to wait for each other");
    ex_require_at_most_per("inst_executed", groups(), "group", 320,
                           "one lane that sorts 32 keys takes its warp as long as 32");
}

START_TEST(no_block_barriers) { require_no_block_barriers(); }
END_TEST

/* In shared memory, a round takes two reads and a write, 45 for a group, and moving the keys there
 * and back. */
START_TEST(keys_stay_in_registers) {
    require_no_block_barriers();
    ex_require_at_most_per("shared_requests_total", groups(), "group", 8,
                           "a shuffle hands a key over, and lanes need not wait for memory");
}
END_TEST

START_TEST(reads_are_coalesced) {
    ex_require_coalesced_loads(1.125, "neighbouring lanes read neighbouring keys");
}
END_TEST

START_TEST(writes_are_coalesced) {
    ex_require_coalesced_stores(1.125, "neighbouring lanes write neighbouring keys");
}
END_TEST

START_TEST(many_SMs_work) { ex_require_min_blocks(EX_MIN_BLOCKS); }
END_TEST

/* Ideas that separate the ladder's last steps from the model solution. */
static void ideas(void) {
    ex_suggest(true,
               "let a warp sort two groups at a time, so that it issues the shuffle of one while "
               "the other is in flight",
               "09-capstone", "What the warps wait for");
}

static void tests(TCase *correctness, TCase *goals, TCase *guards) {
    tcase_add_loop_test(correctness, matches_the_reference, 0, EX_COUNT(cases));
    tcase_add_test(goals, no_block_barriers);
    tcase_add_test(goals, keys_stay_in_registers);
    tcase_add_test(guards, reads_are_coalesced);
    tcase_add_test(guards, writes_are_coalesced);
    tcase_add_test(guards, many_SMs_work);
}

/* Timed with 64 MB, in and out. */
EXERCISE(warp_sync, .chapter = "10-warps", .title = "Lanes that don't run in lockstep",
         .args = args, .nargs = EX_COUNT(args), .cases = cases, .ncases = EX_COUNT(cases),
         .draw = {.dim = {{1, 70000}}, .variants = {"any order", "falling", "sorted", "all equal"}},
         .technique_case = {{1 << 18}}, .timed_case = {{1 << 24}}, .reference = reference,
         .bytes = bytes, .flops = flops,
         .points = {.correctness = 10, .technique = 50, .speed = 40}, .tests = tests,
         .ideas = ideas, .baseline = "1-block-barriers");
