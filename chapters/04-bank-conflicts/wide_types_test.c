/* wide_types_test.c — a transpose of pixels, four floats each; graded on the bank conflicts of
 * structures. */
#include "common/exercise_matrix.h"

static size_t count(const struct ex_case *c) { return 4 * ex_matrix_count(c); }
static double bytes(const struct ex_case *c) { return 8.0 * count(c); }

static const struct ex_arg args[] = {
    {.name = "out", .role = EX_OUT, .type = EX_F32, .count = count},
    {.name = "in", .role = EX_IN, .type = EX_F32, .count = count},
    EX_MATRIX_SIZE_ARGS,
};

static const struct ex_case cases[] = {
    EX_TRANSPOSE_EDGE_CASES,
    {{64, 96}, .label = "whole tiles, not square"},
    {{127, 61}, .label = "prime sizes"},
    {{129, 65}, .label = "one past powers of two"},
};

START_TEST(matches_the_reference) { ex_check_case(&cases[_i]); }
END_TEST

/* A 128-bit access takes at least four wavefronts of eight lanes each, a 32-bit access one.
 * bank_conflicts counts the wavefronts above that. */
START_TEST(no_bank_conflicts) {
    ex_require_no_bank_conflicts(
        "lanes that are served together must use different banks, or read the same word");
}
END_TEST

START_TEST(accesses_are_coalesced) { ex_require_coalesced_transpose(); }
END_TEST

/* Refuses a version without conflicts in which all lanes read the words one after another and each
 * keeps its own: 32 requests instead of one. */
START_TEST(the_tile_is_read_once) {
    ex_require_at_most_per("shared_read_requests_total",
                           count(&ex_current_exercise()->technique_case) / 128.0, "warp of pixels",
                           4.5, "32 lanes take 32 pixels at a time, in four pieces at most");
}
END_TEST

/* The first idea separates the ladder's last step from the model solution. */
static void ideas(void) {
    double pixels = count(&ex_current_exercise()->technique_case) / 4.0;
    ex_suggest(ex_metric_value("shared_read_requests_total") > 2 * pixels / 32,
               "keep each pixel of the tile as one `float4`, which takes one instruction for four "
               "members",
               "04-bank-conflicts", "By hand: wide_types");
    ex_suggest_several_elements(pixels);
}

static void tests(TCase *correctness, TCase *goals, TCase *guards) {
    tcase_add_loop_test(correctness, matches_the_reference, 0, EX_COUNT(cases));
    tcase_add_test(goals, no_bank_conflicts);
    tcase_add_test(guards, accesses_are_coalesced);
    tcase_add_test(guards, the_tile_is_read_once);
}

EXERCISE(wide_types, .chapter = "04-bank-conflicts", .title = "Structures in shared memory",
         .args = args, .nargs = EX_COUNT(args), .cases = cases, .ncases = EX_COUNT(cases),
         .draw = {.dim = {{1, 200}, {1, 200}}, .max_product = 10000},
         .technique_case = {{128, 256}}, .timed_case = {{2048, 2048}},
         .reference = ex_transpose_4f32, .bytes = bytes,
         .points = {.correctness = 0, .technique = 60, .speed = 40}, .tests = tests, .ideas = ideas,
         .baseline = "1-members");
