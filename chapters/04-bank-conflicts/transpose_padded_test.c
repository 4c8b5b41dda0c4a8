/* transpose_padded_test.c — out[c*rows + r] = in[r*cols + c], integers; graded on the bank
 * conflicts of the tile's rows and columns. */
#include "common/exercise_matrix.h"

static const struct ex_arg args[] = {EX_TRANSPOSE_ARGS(EX_I32)};

static const struct ex_case cases[] = {
    EX_TRANSPOSE_EDGE_CASES,
    {{64, 96}, .label = "whole tiles, not square"},
    {{127, 61}, .label = "prime sizes"},
    {{129, 65}, .label = "one past powers of two"},
};

START_TEST(matches_the_reference) { ex_check_case(&cases[_i]); }
END_TEST

/* 0, without slack: with padding, or any other odd stride, there are no conflicts at all, in whole
 * tiles and at the borders. */
START_TEST(no_bank_conflicts) {
    ex_require_no_bank_conflicts(
        "32 lanes that read or write 32 different banks need one wavefront");
}
END_TEST

START_TEST(accesses_are_coalesced) { ex_require_coalesced_transpose(); }
END_TEST

START_TEST(the_tile_is_read_once) { ex_require_single_tile_read(); }
END_TEST

static void ideas(void) { ex_suggest_several_elements(ex_element_count(0)); }

static void tests(TCase *correctness, TCase *goals, TCase *guards) {
    tcase_add_loop_test(correctness, matches_the_reference, 0, EX_COUNT(cases));
    tcase_add_test(goals, no_bank_conflicts);
    tcase_add_test(guards, accesses_are_coalesced);
    tcase_add_test(guards, the_tile_is_read_once);
}

EXERCISE(transpose_padded, .chapter = "04-bank-conflicts",
         .title = "A tile whose columns are as good as its rows", .args = args,
         .nargs = EX_COUNT(args), .cases = cases, .ncases = EX_COUNT(cases),
         .draw = EX_TRANSPOSE_DRAW, .technique_case = {{256, 512}}, .timed_case = {{4096, 4096}},
         .reference = ex_transpose_i32, .bytes = ex_transpose_bytes,
         .points = {.correctness = 0, .technique = 60, .speed = 40}, .tests = tests, .ideas = ideas,
         .baseline = "1-tile");
