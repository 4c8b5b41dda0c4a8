/* swizzle_test.c — a transpose; graded on a tile with neither bank conflicts nor padding. */
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

/* Conflicts: 0, without slack, because a swizzle has none at all, in whole tiles and at the
 * borders. Padding: a tile of 32 x 32 words is 4096 bytes, a padded one 4224. The limit is on the
 * launch's shared memory, static or dynamic. A smaller tile fits together with its padding, so the
 * size must also be a power of two. This is one test, since each half is easy without the other. */
START_TEST(no_bank_conflicts_and_no_padding) {
    double bytes = 4096;
    while (bytes > 1 && bytes > ex_metric_value("shared_bytes")) bytes /= 2;
    ex_require_no_bank_conflicts(
        "32 lanes that read or write 32 different banks need one wavefront");
    ex_require_at_most(
        "shared_bytes", bytes,
        "the tile is a power of two of rows and words without a gap, as a bulk copy would "
        "lay it out");
}
END_TEST

START_TEST(accesses_are_coalesced) { ex_require_coalesced_transpose(); }
END_TEST

START_TEST(the_tile_is_read_once) { ex_require_single_tile_read(); }
END_TEST

static void ideas(void) { ex_suggest_several_elements(ex_element_count(0)); }

static void tests(TCase *correctness, TCase *goals, TCase *guards) {
    tcase_add_loop_test(correctness, matches_the_reference, 0, EX_COUNT(cases));
    tcase_add_test(goals, no_bank_conflicts_and_no_padding);
    tcase_add_test(guards, accesses_are_coalesced);
    tcase_add_test(guards, the_tile_is_read_once);
}

EXERCISE(swizzle, .chapter = "04-bank-conflicts", .title = "No conflicts, no padding", .args = args,
         .nargs = EX_COUNT(args), .cases = cases, .ncases = EX_COUNT(cases),
         .draw = EX_TRANSPOSE_DRAW, .technique_case = {{256, 512}}, .timed_case = {{4096, 4096}},
         .reference = ex_transpose_i32, .bytes = ex_transpose_bytes,
         .points = {.correctness = 0, .technique = 70, .speed = 30}, .tests = tests, .ideas = ideas,
         .baseline = "1-tile");
