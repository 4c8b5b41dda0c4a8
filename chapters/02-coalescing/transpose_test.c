/* transpose_test.c — out[c*rows + r] = in[r*cols + c]; values are moved, not computed: exact. */
#include "common/exercise_fill.h"

enum { ROWS, COLS };

static size_t count(const struct ex_case *c) { return (size_t)c->dim[ROWS] * c->dim[COLS]; }

static void reference(const struct ex_case *c, void *const host[], void *const want[]) {
    const float *in = host[1];
    double *out = want[0];
    long rows = c->dim[ROWS], cols = c->dim[COLS];
    for (long row = 0; row < rows; row++)
        for (long col = 0; col < cols; col++) out[col * rows + row] = in[row * cols + col];
}

static double bytes(const struct ex_case *c) { return 8.0 * count(c); }

static const struct ex_arg args[] = {
    {.name = "out", .role = EX_OUT, .type = EX_F32, .count = count, .shape = {COLS + 1, ROWS + 1}},
    {.name = "in", .role = EX_IN, .type = EX_F32, .count = count, .shape = {ROWS + 1, COLS + 1}},
    {.name = "rows", .role = EX_SCALAR, .type = EX_I32, .dim = ROWS},
    {.name = "cols", .role = EX_SCALAR, .type = EX_I32, .dim = COLS},
};

static const struct ex_case cases[] = {
    {{0, 9}, .label = "no rows: nothing to launch"},
    {{9, 0}, .label = "no columns: nothing to launch"},
    {{1, 1}, .label = "one element"},
    {{1, 67}, .label = "a single row"},
    {{67, 1}, .label = "a single column"},
    {{31, 33}, .label = "around a tile"},
    {{33, 31}, .label = "around a tile, other way round"},
    {{32, 32}, .label = "one tile"},
    {{32, 96}, .label = "whole tiles, not square"},
    {{96, 64}, .label = "whole tiles, taller than wide"},
    {{127, 61}, .label = "prime sizes"},
    {{129, 255}, .label = "around powers of two"},
};

START_TEST(matches_the_reference) { ex_check_case(&cases[_i]); }
END_TEST

/* Limits: an eighth above what the lanes need when packed (4 for a warp of floats). The technique size is a multiple of
 * 32 both ways, so a row starts on a sector's boundary and the ideal can be met exactly; the slack is for versions
 * whose tiles do not fall on such boundaries. Between 4.5 and 32 lies nothing that coalesces. */
START_TEST(reads_are_coalesced) {
    ex_coalesced_loads(1.125, "32 lanes that read 32 neighbouring floats need 128 bytes, 4 sectors of 32 bytes");
}
END_TEST

START_TEST(writes_are_coalesced) {
    ex_coalesced_stores(1.125, "32 lanes that write 32 neighbouring floats need 128 bytes, 4 sectors of 32 bytes");
    ex_at_most_per("sectors_store", count(&ex_current()->technique_case) / 8, "sector of the output", 1.125,
                   "each sector of `out` is written once");
}
END_TEST

/* Coalesced copies to a temporary and back could feed the limits above while the work is done twice. */
START_TEST(each_sector_is_read_once) {
    double elements = count(&ex_current()->technique_case);
    ex_at_most_per("sectors_load", elements / 8, "sector of the input", 1.125, "each sector of `in` is needed once");
    ex_at_most("copied_bytes", 0, "a copy reads them once more, although no kernel is seen doing it");
}
END_TEST

static void tests(TCase *correctness, TCase *goals, TCase *guards) {
    tcase_add_loop_test(correctness, matches_the_reference, 0, EX_COUNT(cases));
    tcase_add_test(goals, writes_are_coalesced);
    tcase_add_test(guards, reads_are_coalesced);
    tcase_add_test(guards, each_sector_is_read_once);
}

EXERCISE(transpose, .chapter = "02-coalescing", .title = "Transpose with both sides coalesced", .args = args,
         .nargs = EX_COUNT(args), .cases = cases, .ncases = EX_COUNT(cases), .technique_case = {{256, 512}},
         .timed = {{2048, 2048}}, .reference = reference, .bytes = bytes,
         .points = {.correctness = 20, .technique = 50, .speed = 30}, .tests = tests, .baseline = "1-coalesced-reads");
