/* reduce_addressing_test.c — sums of groups of 256 integers; graded on bank conflicts and divergent
 * branches of the tree. */
#include "common/exercise_limits.h"

enum { GROUP = 256 };

static size_t count(const struct ex_case *c) { return (size_t)c->dim[0]; }
static size_t groups(const struct ex_case *c) { return (count(c) + GROUP - 1) / GROUP; }

static void reference(const struct ex_case *c, void *const host[], void *const expected[]) {
    const int32_t *in = host[1];
    int64_t *sums = expected[0];
    for (long i = 0; i < c->dim[0]; i++) sums[i / GROUP] += in[i];
}

static double bytes(const struct ex_case *c) { return 4.0 * (count(c) + groups(c)); }
static double flops(const struct ex_case *c) { return count(c); }

static const struct ex_arg args[] = {
    {.name = "sums", .role = EX_OUT, .type = EX_I32, .count = groups},
    {.name = "in", .role = EX_IN, .type = EX_I32, .count = count},
    {.name = "n", .role = EX_SCALAR, .type = EX_I32, .dim = 0},
};

static const struct ex_case cases[] = {
    {{0}, .label = "nothing to sum"},
    {{1}, .label = "one element"},
    {{31}, .label = "one less than a warp"},
    {{33}, .label = "one more than a warp"},
    {{255}, .label = "one less than a group"},
    {{256}, .label = "a group"},
    {{257}, .label = "a group and one element"},
    {{1021}, .label = "a prime: the last group lacks three"},
    {{16384}, .label = "64 groups"},
};

START_TEST(matches_the_reference) { ex_check_case(&cases[_i]); }
END_TEST

static double technique_groups(void) { return groups(&ex_current_exercise()->technique_case); }

START_TEST(no_bank_conflicts) {
    ex_require_no_bank_conflicts(
        "lanes of a warp that add neighbouring elements use neighbouring banks");
}
END_TEST

/* Divergent branches of a group. With sequential addressing, one warp diverges in each of the last
 * five rounds, with 16, 8, ... 1 active threads, and once for the result: 6. With shuffles, each
 * warp diverges once, when its first lane stores the sum: 10. With "t % (2 * distance)", every warp
 * diverges in each of the first five rounds: 48.
 *
 * Selections instead of branches don't diverge, but then all warps load in all rounds: 8 * 8 loads
 * a group or more. If neighbouring threads work, 4 + 2 + 1 + 1 + 1 + 1 + 1 + 1 = 12 warps are
 * active in all rounds together, with two loads each, and one load for the result: 25. With
 * "t % (2 * distance)": 95. */
START_TEST(warps_seldom_diverge) {
    ex_require_at_most_per(
        "divergent_branches", technique_groups(), "group", 16,
        "if the threads that work are neighbours, whole warps work and whole warps rest");
    ex_require_at_most_per(
        "shared_read_requests_total", technique_groups(), "group", 32,
        "half of the warps rest in the first round, and all but one from the third on");
}
END_TEST

/* A tree in device memory, or no tree at all, has no conflicts either; these limits refuse both.
 * The limit of 4 is what one thread does with an mbarrier for a bulk copy; an atomic for each warp
 * would be 8. */
START_TEST(work_is_shared_by_the_group) {
    ex_require_coalesced_loads(1.125, "neighbouring threads read neighbouring elements");
    ex_require_at_most_per(
        "device_read_sectors", ex_problem_sectors(), "sector of the problem", 1.125,
        "partial sums stay in the block: in memory, each round would read them once more");
    ex_require_at_most_per("atomic_operations", technique_groups(), "group", 0,
                           "the sum of a group needs no atomics");
    ex_require_at_most_per("shared_atomic_operations", technique_groups(), "group", 4,
                           "atomics on one word are serialized");
}
END_TEST

/* Ideas that separate the ladder's last steps from the model solution. */
static void ideas(void) {
    ex_suggest(ex_metric_value("global_load_requests") >
                   count(&ex_current_exercise()->technique_case) / 64.0,
               "load four neighbours as one vector, and add them before you write to shared memory",
               "02-coalescing", "By hand: vector_loads");
}

static void tests(TCase *correctness, TCase *goals, TCase *guards) {
    tcase_add_loop_test(correctness, matches_the_reference, 0, EX_COUNT(cases));
    tcase_add_test(goals, warps_seldom_diverge);
    tcase_add_test(guards, no_bank_conflicts);
    tcase_add_test(guards, work_is_shared_by_the_group);
}

EXERCISE(reduce_addressing, .chapter = "04-bank-conflicts",
         .title = "A tree whose warps work or rest as a whole", .args = args,
         .nargs = EX_COUNT(args), .cases = cases, .ncases = EX_COUNT(cases),
         .draw = {.dim = {{1, 20000}}}, .technique_case = {{1 << 16}}, .timed_case = {{1 << 25}},
         .reference = reference, .bytes = bytes, .flops = flops,
         .points = {.correctness = 0, .technique = 60, .speed = 40}, .tests = tests, .ideas = ideas,
         .baseline = "1-modulo");
