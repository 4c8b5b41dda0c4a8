/* gemm_mapping_test.c — C = A * B in single precision; graded on which thread index runs along a
 * row. */
#include "common/exercise_gemm.h"

static const struct ex_arg args[] = {EX_GEMM_ARGS};

static const struct ex_case cases[] = {
    EX_GEMM_EDGE_CASES,
    {{31, 33, 32}, .label = "around a warp"},
    {{33, 31, 34}, .label = "one past a warp"},
    {{7, 129, 67}, .label = "wide"},
    {{67, 3, 7}, .label = "tall"},
    {{127, 61, 31}, .label = "prime sizes"},
    {{64, 64, 64}, .label = "square"},
};

START_TEST(matches_the_reference) { ex_check_case(&cases[_i]); }
END_TEST

/* Requests with few active lanes have few sectors, too, so the total is also limited: at most 5
 * sectors for 32 products. */
static void require_few_sectors(void) {
    ex_require_at_most_per("device_read_sectors",
                           ex_gemm_products(&ex_current_exercise()->technique_case) / 32,
                           "warp-wide product", 5.5,
                           "32 products that share an element of A need 1 sector of A and 4 of B");
}

/* With x along a row, a warp of 32 x 1 reads one element of A (1 sector) and 32 neighbours of B
 * (4): 2.5 on average. Blocks 16 wide give 2 and 2 x 2. With x down a column: 32 and 1, 16.5 on
 * average. The limit is the packed ideal (4) and an eighth, which no strided version can meet.
 * Additional packed accesses improve an average, so the total is limited here, too. */
START_TEST(reads_are_coalesced) {
    ex_require_packed_loads_on_average(
        1.125, "a warp needs one element of A and 32 neighbours of B, or less");
    require_few_sectors();
}
END_TEST

START_TEST(writes_are_coalesced) {
    ex_require_packed_stores_on_average(
        1.125, "a warp's 32 results are neighbours in a row of C: 4 sectors");
    ex_require_at_most_per(
        "device_write_sectors", ex_gemm_c(&ex_current_exercise()->technique_case) / 8.0,
        "sector of C", 1.125, "each sector of C is written once, by the warp that has all of it");
}
END_TEST

START_TEST(lanes_share_sectors) { require_few_sectors(); }
END_TEST

/* Ideas that separate the ladder's last steps from the model solution. */
static void ideas(void) {
    ex_suggest(true,
               "let a warp compute 32 neighbours of one row of C, so that all its lanes share one "
               "element of A",
               "02-coalescing", "By hand: gemm_mapping");
}

static void tests(TCase *correctness, TCase *goals, TCase *guards) {
    tcase_add_loop_test(correctness, matches_the_reference, 0, EX_COUNT(cases));
    tcase_add_test(goals, reads_are_coalesced);
    tcase_add_test(goals, writes_are_coalesced);
    tcase_add_test(goals, lanes_share_sectors);
    (void)guards; /* The baseline does nothing right that could be lost. */
}

EXERCISE(gemm_mapping, .chapter = "02-coalescing", .title = "Which index runs along a row",
         .args = args, .nargs = EX_COUNT(args), .cases = cases, .ncases = EX_COUNT(cases),
         .draw = EX_GEMM_DRAW, .technique_case = {{128, 64, 96}}, .timed_case = {{1024, 512, 1024}},
         .reference = ex_gemm_reference, .tolerance = ex_gemm_tolerance, .bytes = ex_gemm_bytes,
         .flops = ex_gemm_flops, .points = {.correctness = 0, .technique = 50, .speed = 50},
         .tests = tests, .ideas = ideas, .baseline = "1-rows-along-x");
