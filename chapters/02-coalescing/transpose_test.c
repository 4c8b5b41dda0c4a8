/* transpose_test.c — out[c*rows + r] = in[r*cols + c]; values are moved, not computed: exact. */
#include "common/exercise_matrix.h"

static const struct ex_arg args[] = {EX_TRANSPOSE_ARGS(EX_F32)};

static const struct ex_case cases[] = {
    EX_TRANSPOSE_EDGE_CASES,
    {{32, 96}, .label = "whole tiles, not square"},
    {{96, 64}, .label = "whole tiles, taller than wide"},
    {{127, 61}, .label = "prime sizes"},
    {{129, 255}, .label = "around powers of two"},
};

START_TEST(matches_the_reference) { ex_check_case(&cases[_i]); }
END_TEST

/* The limits are an eighth above the packed ideal (4 for a warp of floats). Both dimensions of the
 * technique case are multiples of 32, so a row starts on a sector boundary and the ideal can be met
 * exactly; the slack is for versions whose tiles don't start on such boundaries. No coalesced
 * version lies between 4.5 and 32. */
START_TEST(reads_are_coalesced) {
    ex_require_packed_loads_on_average(
        1.125, "32 lanes that read 32 neighbouring floats need 128 bytes, 4 sectors of 32 bytes");
}
END_TEST

START_TEST(writes_are_coalesced) {
    ex_require_packed_stores_on_average(
        1.125, "32 lanes that write 32 neighbouring floats need 128 bytes, 4 sectors of 32 bytes");
    ex_require_at_most_per("device_write_sectors", ex_element_count(0) / 8, "sector of the output",
                           1.125, "each sector of `out` is written once");
}
END_TEST

/* Coalesced copies to a temporary array and back could meet the limits above and do the work
 * twice. */
START_TEST(each_sector_is_read_once) {
    ex_require_at_most_per("device_read_sectors", ex_element_count(1) / 8, "sector of the input",
                           1.125, "each sector of `in` is needed once");
    ex_require_at_most("copied_bytes", 0, "a copy reads the matrix once more, as a kernel would");
}
END_TEST

/* Ideas that separate the ladder's last steps from the model solution. */
static void ideas(void) {
    ex_suggest(
        ex_metric_value("bank_conflicts") > 0,
        "give the rows of the tile a pad of one element, so that a column lies in different banks",
        "04-bank-conflicts", "By hand: transpose_padded and swizzle");
}

static void tests(TCase *correctness, TCase *goals, TCase *guards) {
    tcase_add_loop_test(correctness, matches_the_reference, 0, EX_COUNT(cases));
    tcase_add_test(goals, writes_are_coalesced);
    tcase_add_test(guards, reads_are_coalesced);
    tcase_add_test(guards, each_sector_is_read_once);
}

EXERCISE(transpose, .chapter = "02-coalescing", .title = "Transpose with both sides coalesced",
         .args = args, .nargs = EX_COUNT(args), .cases = cases, .ncases = EX_COUNT(cases),
         .draw = EX_TRANSPOSE_DRAW, .technique_case = {{256, 512}}, .timed_case = {{4096, 4096}},
         .reference = ex_transpose_f32, .bytes = ex_transpose_bytes,
         .points = {.correctness = 0, .technique = 60, .speed = 40}, .tests = tests, .ideas = ideas,
         .baseline = "1-coalesced-reads");
