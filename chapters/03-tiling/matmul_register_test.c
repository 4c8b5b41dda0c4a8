/* matmul_register_test.c — C = A * B; graded on how many products use an element that is in a
 * register. */
#include "common/exercise_gemm.h"

static const struct ex_arg args[] = {EX_GEMM_ARGS};

static const struct ex_case cases[] = {
    EX_GEMM_EDGE_CASES,
    {{31, 33, 32}, .label = "rows of A are not aligned"},
    {{32, 32, 33}, .label = "rows of B are not aligned"},
    {{64, 8, 64}, .label = "whole tiles, small"},
    {{128, 16, 128}, .label = "whole tiles, large"},
    {{129, 20, 132}, .label = "one past a large tile, aligned rows"},
    {{127, 9, 131}, .label = "prime sizes"},
    {{4, 68, 200}, .label = "wide"},
    {{200, 12, 4}, .label = "tall"},
};

START_TEST(matches_the_reference) { ex_check_case(&cases[_i]); }
END_TEST

static double products(void) { return ex_gemm_products(&ex_current_exercise()->technique_case); }

/* Reads of shared memory for each product: a thread with 8 x 8 elements loads 16 values for 64
 * products, 0.25 with single words and 0.0625 with vectors of four. 4 x 4 elements with single
 * words make 0.5, one element a thread 2. */
START_TEST(values_are_reused_in_registers) {
    ex_require_at_most_per("shared_read_requests_total", products() / 32, "warp-wide product", 0.25,
                           "8 values of A and 8 of B in registers are enough for 64 products");
    ex_require_at_most_per(
        "shuffles", products() / 32, "warp-wide product", 0.25,
        "a value that comes from another lane's register takes as long as one from shared memory");
}
END_TEST

/* Tiles of 64 x 64, fetched four floats at a time, make 2 / 64 / 4; tiles of 128 half of that. */
START_TEST(global_loads_are_vectorized) {
    ex_require_at_most_per("device_read_accesses", products(), "product", 1.0 / 128,
                           "a tile of 64 x 64 or larger, fetched 16 bytes a lane");
}
END_TEST

START_TEST(no_local_memory) {
    ex_require_at_most(
        "local_requests", 0,
        "an array that is indexed by a variable lives in local memory, not in registers");
}
END_TEST

START_TEST(accesses_are_coalesced) {
    ex_require_at_most_per("device_read_sectors", products(), "product", 1.125 / 256,
                           "each sector that a tile of 64 touches is used whole");
    ex_require_coalesced_stores(2.0, "a thread's 8 results in a row are whole sectors");
}
END_TEST

/* With 8 neighbouring columns a thread, the lanes of a quarter warp are 8 words apart, two lanes to
 * a bank: 0.19. The limit refuses four or eight lanes to a bank. */
START_TEST(few_bank_conflicts) {
    ex_require_at_most_per("bank_conflicts", products() / 32, "warp-wide product", 0.25,
                           "bank conflicts lose again what registers save in loads");
}
END_TEST

/* Ideas that separate 8 x 8 elements a thread from the model solution, which reads vectors from
 * shared memory (0.0625) and hides the latency of the tiles. No counter shows the latter. */
static void ideas(void) {
    ex_suggest(ex_metric_value("shared_read_requests_total") > 0.1 * products() / 32,
               "read a thread's values of both tiles as vectors of four, and store the tile of A "
               "transposed for that",
               "03-tiling", "By hand: matmul_register");
    ex_suggest(
        ex_metric_value("theoretical_occupancy") < 0.2,
        "use fewer registers a thread or smaller blocks, so that other blocks multiply while "
        "one waits at its barrier",
        "06-occupancy", "Registers");
    ex_suggest(true,
               "load the next tiles into registers before you multiply the present ones, so that "
               "the products hide the latency of the loads",
               "09-capstone", "Two buffers");
}

static void tests(TCase *correctness, TCase *goals, TCase *guards) {
    tcase_add_loop_test(correctness, matches_the_reference, 0, EX_COUNT(cases));
    tcase_add_test(goals, values_are_reused_in_registers);
    tcase_add_test(goals, global_loads_are_vectorized);
    tcase_add_test(goals, accesses_are_coalesced);
    tcase_add_test(guards, no_local_memory);
    tcase_add_test(guards, few_bank_conflicts);
}

EXERCISE(matmul_register, .chapter = "03-tiling", .title = "8 x 8 products from 16 values",
         .args = args, .nargs = EX_COUNT(args), .cases = cases, .ncases = EX_COUNT(cases),
         .draw = EX_GEMM_DRAW, .technique_case = {{256, 32, 256}},
         .timed_case = {{2048, 256, 2048}}, .reference = ex_gemm_reference,
         .tolerance = ex_gemm_tolerance, .bytes = ex_gemm_bytes, .flops = ex_gemm_flops,
         .points = {.correctness = 0, .technique = 50, .speed = 50}, .tests = tests, .ideas = ideas,
         .baseline = "1-tile32");
