/* matmul_tiled_test.c — C = A * B in single precision; graded on how often an element is loaded
 * from global memory. */
#include "common/exercise_gemm.h"

static const struct ex_arg args[] = {EX_GEMM_ARGS};

static const struct ex_case cases[] = {
    EX_GEMM_EDGE_CASES,
    {{32, 32, 32}, .label = "one tile"},
    {{31, 33, 32}, .label = "around a tile"},
    {{33, 31, 34}, .label = "one past a tile"},
    {{32, 33, 32}, .label = "whole tiles of C, one step past a tile"},
    {{7, 129, 67}, .label = "wide, many tiles along k"},
    {{67, 3, 7}, .label = "tall"},
    {{127, 61, 31}, .label = "prime sizes"},
    {{64, 96, 64}, .label = "whole tiles, not square"},
};

START_TEST(matches_the_reference) { ex_check_case(&cases[_i]); }
END_TEST

static double products(void) { return ex_gemm_products(&ex_current_exercise()->technique_case); }

/* The baseline makes 2 loads a product, tiles of T x T make 2 / T. The limit is that of T = 16;
 * T = 32 makes 0.0625, T = 8 makes 0.25. Wide loads (float4) reduce the number without sharing, so
 * sectors are limited, too. A step of a warp of the baseline touches 5 sectors for 32 products
 * (0.156); two tiles of 16 x 16 are 64 sectors for 16^3 products (0.0156). */
START_TEST(elements_are_shared_by_the_block) {
    ex_require_at_most_per("device_read_accesses", products(), "product", 0.125,
                           "an element that a block has loaded serves 16 of its threads or more");
    ex_require_at_most_per("device_read_sectors", products(), "product", 0.02,
                           "two tiles of 16 x 16 are 64 sectors and serve 4096 products");
}
END_TEST

START_TEST(accesses_are_coalesced) {
    ex_require_coalesced_loads(1.125, "rows of a tile are neighbours in memory");
    ex_require_coalesced_stores(1.125, "rows of C are neighbours in memory");
}
END_TEST

/* If a tile is filled or read by columns, all lanes of a warp access one bank (chapter 04): each
 * request takes 31 extra wavefronts. A single column-wise store of 1024 elements takes 1 extra
 * wavefront a product, for tiles of 32. */
START_TEST(few_bank_conflicts) {
    ex_require_at_most_per(
        "bank_conflicts", products() / 32, "warp-wide product", 0.25,
        "use threadIdx.x as the last index of a tile, when you fill it and when you read it");
}
END_TEST

/* Larger tiles make 0.0625 loads a product. In the model solution each thread computes one element,
 * so it lacks the second idea, which the next exercise teaches. */
static void ideas(void) {
    ex_suggest(ex_metric_value("device_read_accesses") > 0.07 * products(),
               "use tiles of 32 x 32, which need half the loads and half the barriers of tiles of "
               "16 x 16",
               "03-tiling", "By hand: matmul_tiled");
    ex_suggest(ex_metric_value("shared_read_requests_total") > products() / 32,
               "let each thread compute several elements of C, so that a value from shared memory "
               "serves several products",
               "03-tiling", "By hand: matmul_register");
}

static void tests(TCase *correctness, TCase *goals, TCase *guards) {
    tcase_add_loop_test(correctness, matches_the_reference, 0, EX_COUNT(cases));
    tcase_add_test(goals, elements_are_shared_by_the_block);
    tcase_add_test(guards, accesses_are_coalesced);
    tcase_add_test(guards, few_bank_conflicts);
}

EXERCISE(matmul_tiled, .chapter = "03-tiling", .title = "Load once for the whole block",
         .args = args, .nargs = EX_COUNT(args), .cases = cases, .ncases = EX_COUNT(cases),
         .draw = EX_GEMM_DRAW, .technique_case = {{96, 64, 128}}, .timed_case = {{1024, 512, 1024}},
         .reference = ex_gemm_reference, .tolerance = ex_gemm_tolerance, .bytes = ex_gemm_bytes,
         .flops = ex_gemm_flops, .points = {.correctness = 0, .technique = 80, .speed = 20},
         .tests = tests, .ideas = ideas, .baseline = "1-naive");
