/* warpgroup_tiles_test.c — products of rows with rows by wgmma, which reads tiles from shared
 * memory itself; graded on the tiles' layout, and on copies and products that run asynchronously.
 */
#include "common/exercise_gemm_half.h"

static size_t rows_of_b(const struct ex_case *c) { return (size_t)c->dim[2] * c->dim[1]; }

static const struct ex_arg args[] = {
    {.name = "c", .role = EX_OUT, .type = EX_F32, .count = ex_gemm_c, .shape = {1, 3}},
    {.name = "a", .role = EX_IN, .type = EX_F16, .count = ex_gemm_a, .shape = {1, 2}},
    {.name = "b", .role = EX_IN, .type = EX_F16, .count = rows_of_b, .shape = {3, 2}},
    {.name = "n", .role = EX_SCALAR, .type = EX_I32, .dim = 0},
    {.name = "m", .role = EX_SCALAR, .type = EX_I32, .dim = 2},
    {.name = "k", .role = EX_SCALAR, .type = EX_I32, .dim = 1},
};

static const struct ex_case cases[] = {
    {{0, 64, 32}, .label = "no rows of a: nothing to launch"},
    {{32, 64, 0}, .label = "no rows of b: nothing to launch"},
    {{32, 0, 48}, .label = "k = 0: c is zero"},
    {{16, 64, 16}, .label = "one tile, one piece"},
    {{16, 192, 16}, .label = "one tile, three pieces"},
    {{48, 64, 32}, .label = "tiles below each other, and side by side"},
    {{128, 128, 128}, .label = "powers of two"},
    {{144, 64, 112}, .label = "sixteen more, and sixteen less"},
    {{16, 64, 400}, .label = "wide"},
    {{400, 64, 16}, .label = "tall"},
    {{208, 192, 272}, .label = "prime multiples of 16"},
    {{64, 1024, 48}, .label = "long sums"},
};

START_TEST(matches_the_reference) { ex_check_case(&cases[_i]); }
END_TEST

static double products(void) { return ex_gemm_products(&ex_current_exercise()->technique_case); }
static double cubes(void) { return products() / (16 * 16 * 16); }

/* Conditions that the baseline meets and each goal requires: warpgroups multiply tiles of 128 x
 * 128, which a block reads for all of its warps, 16 bytes a lane (1/1024 of a sector for each
 * product, and 1/4 of a request a cube). No lane loads fragments: a cube takes 9 instructions.
 * mma.sync takes at least 0.5 loads a cube, or shuffles, and 15 to 34 instructions. */
static void require_warpgroup_tiles(void) {
    ex_require_at_least_per("flops_matrix", products(), "product", 2,
                            "each product is a multiplication and an addition there");
    ex_require_at_most_per("shared_read_requests_total", cubes(), "16 x 16 x 16 products", 0.1,
                           "products read shared memory by themselves");
    ex_require_at_most_per("inst_executed", cubes(), "16 x 16 x 16 products", 12,
                           "what warps do beside the products is work, too");
    ex_require_at_most_per("device_read_sectors", products(), "product", 1.0 / 1000,
                           "a tile of 128 x 128 is read once for all warps");
    ex_require_at_most_per("device_read_requests", cubes(), "16 x 16 x 16 products", 0.26,
                           "16 bytes a lane, once for all warps");
    ex_require_at_most("spill_bytes", 0, "the sums must fit into the registers");
    ex_require_at_most("local_requests", 0,
                       "arrays that a loop indexes must be unrolled to stay in registers");
}

/* Eight lanes have a row's chunks, which the baseline stores 2048 bytes apart: 7 extra wavefronts
 * for each 128 bytes. */
START_TEST(no_bank_conflicts) {
    require_warpgroup_tiles();
    ex_require_no_bank_conflicts("the chunks of a row can lie in eight different places");
}
END_TEST

/* A warp waits once for each piece of 64 steps of k if the next piece has a buffer of its own,
 * otherwise twice; and twice more, at the start or before results are stored. */
START_TEST(one_barrier_per_piece) {
    require_warpgroup_tiles();
    const struct ex_case *c = &ex_current_exercise()->technique_case;
    double tiles = (double)ex_gemm_c(c) / (128 * 128);
    ex_require_at_most_per("barriers", tiles * 8, "warp of a tile of 128 x 128",
                           c->dim[1] / 64.0 + 2,
                           "while one buffer is multiplied, the others are filled");
}
END_TEST

/* Little's law, as in `stages` of chapter 13, requires 11 KB for each SM, and more under load. A
 * piece is 32 KB. With one piece ahead, warps wait for it before half of the instructions of its
 * round are done. */
START_TEST(two_pieces_in_flight) {
    require_warpgroup_tiles();
    ex_require_at_least_per("async_copy_bytes_in_flight",
                            32 * ex_metric_value("blocks") / ex_metric_value("threads"), "block",
                            16384, "bandwidth times latency is what must be in flight");
}
END_TEST

/* The ideas of the model solution. It requests four pieces of 32 KB ahead, and has 90 KB in flight
 * on average; the goal requires 16 KB. Step 4, which stores from registers, has 68 KB. */
static void ideas(void) {
    ex_suggest(ex_metric_value("async_copy_bytes_in_flight") * 32 * ex_metric_value("blocks") <
                   49152.0 * ex_metric_value("threads"),
               "request four pieces ahead, with six buffers", "13-async",
               "How much must be in flight");
    ex_suggest(ex_metric_value("bulk_store_bytes") == 0,
               "store results from shared memory by bulk copies", "13-async",
               "Bulk copies and mbarriers");
}

static void tests(TCase *correctness, TCase *goals, TCase *guards) {
    tcase_add_loop_test(correctness, matches_the_reference, 0, EX_COUNT(cases));
    tcase_add_test(goals, no_bank_conflicts);
    tcase_add_test(goals, one_barrier_per_piece);
    tcase_add_test(goals, two_pieces_in_flight);
    (void)guards; /* Each goal requires what the baseline does right. */
}

/* Timed with the same size as wmma_gemm. */
EXERCISE(warpgroup_tiles, .chapter = "14-tensor-cores", .title = "Products that read shared memory",
         .args = args, .nargs = EX_COUNT(args), .cases = cases, .ncases = EX_COUNT(cases),
         .draw = {.dim = {{16, 288, .step = 16}, {64, 256, .step = 64}, {16, 288, .step = 16}},
                  .max_product = 6000000},
         .technique_case = {{256, 512, 256}}, .timed_case = {{1536, 1024, 1408}},
         .reference = ex_gemm_half_reference_transposed_b, .tolerance = ex_gemm_half_tolerance,
         .bytes = ex_gemm_half_bytes, .flops = ex_gemm_flops, .sm_90a = true,
         .has_tensor_core_roof = true, .points = {.correctness = 0, .technique = 60, .speed = 40},
         .tests = tests, .ideas = ideas, .baseline = "1-waits");
