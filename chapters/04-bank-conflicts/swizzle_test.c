/* swizzle_test.c — a transpose whose tile has neither conflicts nor padding. */
#include "common/exercise_fill.h"

enum { ROWS, COLS };

static size_t count(const struct ex_case *c) { return (size_t)c->dim[ROWS] * c->dim[COLS]; }

static void reference(const struct ex_case *c, void *const host[], void *const want[]) {
    const int32_t *in = host[1];
    int64_t *out = want[0];
    long rows = c->dim[ROWS], cols = c->dim[COLS];
    for (long row = 0; row < rows; row++)
        for (long col = 0; col < cols; col++) out[col * rows + row] = in[row * cols + col];
}

static double bytes(const struct ex_case *c) { return 8.0 * count(c); }

static const struct ex_arg args[] = {
    {.name = "out", .role = EX_OUT, .type = EX_I32, .count = count, .shape = {COLS + 1, ROWS + 1}},
    {.name = "in", .role = EX_IN, .type = EX_I32, .count = count, .shape = {ROWS + 1, COLS + 1}},
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
    {{64, 96}, .label = "whole tiles, not square"},
    {{127, 61}, .label = "prime sizes"},
    {{129, 65}, .label = "one past powers of two"},
};

START_TEST(matches_the_reference) { ex_check_case(&cases[_i]); }
END_TEST

/* Conflicts: 0, and no slack; an arrangement that mixes row and column has none at all, in whole tiles as at
 * the borders. Padding: a tile of 32 x 32 words is 4096 bytes, a padded one 4224. The limit is on what the
 * launch takes, static or dynamic. A smaller tile fits together with its pad, so what is taken has to be a
 * power of two besides. One test, since either is easy without the other. */
START_TEST(no_conflicts_and_no_padding) {
    double bytes = 4096;
    while (bytes > 1 && bytes > ex_metric("shared_bytes")) bytes /= 2;
    ex_at_most("bank_conflicts_load", 0, "32 lanes that read 32 different banks need one pass");
    ex_at_most("bank_conflicts_store", 0, "32 lanes that write 32 different banks need one pass");
    ex_at_most("shared_bytes", bytes,
               "the tile is a power of two of rows and words without a gap, as a bulk copy would lay it out");
}
END_TEST

START_TEST(accesses_are_coalesced) {
    ex_coalesced_loads(1.125, "the way through shared memory is there so that rows of `in` are read as rows");
    ex_coalesced_stores(1.125, "the way through shared memory is there so that rows of `out` are written as rows");
}
END_TEST

/* Without conflicts, too: all lanes read one word after the other, and each keeps its own. 32 requests for one. */
START_TEST(the_tile_is_read_once) {
    ex_at_most_per("shared_requests_load", count(&ex_current()->technique_case) / 32.0, "warp of elements", 1.125,
                   "32 lanes take 32 elements at a time");
}
END_TEST

static void tests(TCase *correctness, TCase *goals, TCase *guards) {
    tcase_add_loop_test(correctness, matches_the_reference, 0, EX_COUNT(cases));
    tcase_add_test(goals, no_conflicts_and_no_padding);
    tcase_add_test(guards, accesses_are_coalesced);
    tcase_add_test(guards, the_tile_is_read_once);
}

EXERCISE(swizzle, .chapter = "04-bank-conflicts", .title = "No conflicts, no padding", .args = args,
         .nargs = EX_COUNT(args), .cases = cases, .ncases = EX_COUNT(cases), .technique_case = {{256, 512}},
         .timed = {{2048, 2048}}, .reference = reference, .bytes = bytes,
         .points = {.correctness = 20, .technique = 60, .speed = 20}, .tests = tests, .baseline = "1-tile");
