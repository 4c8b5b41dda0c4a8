/* count_equal_test.c — counts the integers that equal a value; graded on the number of atomics. */
#include "common/exercise_reduce.h"

enum { SOME, NONE, ALL }; /* variants: how many of the elements are equal */

/* Returns the value to count: of either sign, and different for different sizes. */
static int32_t target_value(const struct ex_case *c) { return (int32_t)(c->dim[0] % 13) - 6; }
static double value(const struct ex_case *c, struct ex_rng *r) {
    (void)r;
    return target_value(c);
}

/* A random third of the elements are equal, so that a warp has both kinds. */
static void fill(const struct ex_case *c, struct ex_rng *r, void *data, size_t count) {
    int32_t *x = data, value = target_value(c);
    for (size_t i = 0; i < count; i++)
        x[i] = c->variant == ALL ? value : (int32_t)ex_uniform_int(r, value - 1, value + 1);
    for (size_t i = 0; c->variant == NONE && i < count; i++)
        if (x[i] == value) x[i] = value ^ INT32_MIN; /* differs in one bit only */
}

static void reference(const struct ex_case *c, void *const host[], void *const expected[]) {
    const int32_t *data = host[1];
    int64_t *out = expected[0];
    for (long i = 0; i < c->dim[0]; i++) *out += data[i] == target_value(c);
}

static const struct ex_arg args[] = {
    {.name = "count", .role = EX_OUT, .type = EX_I32, .count = ex_reduce_result},
    {.name = "data", .role = EX_IN, .type = EX_I32, .count = ex_reduce_count, .fill = fill},
    {.name = "value", .role = EX_SCALAR, .type = EX_I32, .value = value},
    {.name = "n", .role = EX_SCALAR, .type = EX_I32, .dim = 0},
};

static const struct ex_case cases[] = {
    {{0}, .label = "no elements: the count is 0"},
    {{1}, ALL, "one element, equal"},
    {{1}, NONE, "one element, not equal"},
    {{31}, .label = "one less than a warp"},
    {{32}, ALL, "a warp, all equal"},
    {{33}, .label = "one more than a warp"},
    {{257}, .label = "one more than a block"},
    {{10007}, .label = "a prime"},
    {{10007}, NONE, "none equal"},
    {{65537}, ALL, "all equal, one past a power of two"},
};

START_TEST(matches_the_reference) { ex_check_case(&cases[_i]); }
END_TEST

/* Current compilers aggregate the baseline's atomicAdd(count, 1) to one atomic for each warp, which
 * is 8 for 256 elements and misses the limit; older ones make one for each equal element. */
static void require_local_sums(void) {
    ex_require_block_reduction(
        "a block of 256 or more adds up what it has found and updates the counter once");
}

START_TEST(one_atomic_per_block) { require_local_sums(); }
END_TEST

START_TEST(one_shared_atomic_per_warp) {
    require_local_sums();
    ex_require_warp_reduction(
        "the lanes of a warp can add up by a vote or by shuffles before one lane accesses memory",
        "the warps of a block need one barrier or two; a tree in shared memory needs one a level");
}
END_TEST

START_TEST(reads_are_coalesced) { ex_require_coalesced_reduce_loads(); }
END_TEST

START_TEST(many_SMs_work) { ex_require_min_blocks(8); }
END_TEST

/* Ideas that separate the ladder's last steps from the model solution. */
static void ideas(void) {
    ex_suggest(ex_metric_value("global_load_requests") >
                   ex_reduce_count(&ex_current_exercise()->technique_case) / 64.0,
               "give each thread several vectors of four elements, and count them in a register "
               "before lanes and warps add up",
               "00-roofline", "Example: one element a thread, or several");
}

static void tests(TCase *correctness, TCase *goals, TCase *guards) {
    tcase_add_loop_test(correctness, matches_the_reference, 0, EX_COUNT(cases));
    tcase_add_test(goals, one_atomic_per_block);
    tcase_add_test(goals, one_shared_atomic_per_warp);
    tcase_add_test(guards, reads_are_coalesced);
    tcase_add_test(guards, many_SMs_work);
}

/* Timed with 256 MB, which no cache holds, and so that two launches (5 us) are short compared with
 * the reading (62 us). */
EXERCISE(count_equal, .chapter = "05-atomics-reduction", .title = "Add up before you go to memory",
         .args = args, .nargs = EX_COUNT(args), .cases = cases, .ncases = EX_COUNT(cases),
         .draw = {.dim = {{1, 70000}}, .variants = {"some equal", "none equal", "all equal"}},
         .technique_case = {{1 << 17}}, .timed_case = {{1 << 26}}, .reference = reference,
         .bytes = ex_reduce_bytes, .flops = ex_reduce_flops,
         .points = {.correctness = 0, .technique = 50, .speed = 50}, .tests = tests, .ideas = ideas,
         .baseline = "1-global");
