/* mma_swizzle_test.c — products of rows with rows by mma.sync; graded on how fragments are loaded
 * from shared memory. */
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

/* Conditions that the baseline meets and each goal requires: tensor cores multiply tiles of 128 x
 * 128 in shared memory, which a block reads for all of its warps, 16 bytes a lane (1/1024 of a
 * sector for each product, and 1/4 of a request for 16 x 16 x 16). Loading words of two halves from
 * global memory takes 3 requests. The baseline takes 15 instructions for 16 x 16 x 16; exchanging
 * values with shuffles takes 34. */
static void require_tiles_in_shared_memory(void) {
    ex_require_at_least_per("flops_matrix", products(), "product", 2,
                            "tensor cores compute each product: a multiplication and an addition");
    ex_require_at_most_per("inst_executed", cubes(), "16 x 16 x 16 products", 24,
                           "instructions other than the products take issue slots, too");
    ex_require_at_least_per("shared_load_requests", cubes(), "16 x 16 x 16 products", 0.25,
                            "fragments come from shared memory");
    ex_require_at_most_per("device_read_sectors", products(), "product", 1.0 / 1000,
                           "a tile of 128 x 128 is read once for all warps");
    ex_require_at_most_per("device_read_requests", cubes(), "16 x 16 x 16 products", 0.26,
                           "16 bytes a lane, once for all warps");
}

/* With words of two halves, 4 fragments of a take 16 loads and 4 of b take 8, for 4 x 2 cubes of 16
 * x 16 x 16: 3 a cube. ldmatrix loads four matrices of 8 x 8 at a time: 4 + 2 loads, 0.75 a cube;
 * 0.5 for a warp with 64 x 64. */
START_TEST(one_load_per_fragment) {
    require_tiles_in_shared_memory();
    ex_require_at_most_per("shared_read_requests_total", cubes(), "16 x 16 x 16 products", 0.8,
                           "one instruction loads what four registers of a fragment hold");
    ex_require_at_most("spill_bytes", 0, "the sums and the fragments must fit into the registers");
    ex_require_at_most("local_requests", 0,
                       "arrays that a loop indexes must be unrolled to stay in registers");
}
END_TEST

/* Eight rows of 128 bytes start in one bank: 7 extra wavefronts for each matrix of 8 x 8, 21 a cube
 * in the baseline. Two buffers of 128 x 64 halves for both matrices are 64 KB; with 16 bytes of
 * padding a row, they are 72 KB. */
START_TEST(no_bank_conflicts_and_no_padding) {
    require_tiles_in_shared_memory();
    ex_require_at_most_per("shared_read_requests_total", cubes(), "16 x 16 x 16 products", 3.05,
                           "bank conflicts add wavefronts, too");
    ex_require_no_bank_conflicts("eight rows at one column can lie in eight different places");
    ex_require_at_most("shared_bytes", 65536,
                       "two buffers without a gap, as a bulk copy would lay them out, are 64 KB");
}
END_TEST

/* A warp waits once for each piece of 64 steps of k if the next piece has a buffer of its own,
 * otherwise twice; and once more at the start. */
START_TEST(one_barrier_per_piece) {
    require_tiles_in_shared_memory();
    const struct ex_case *c = &ex_current_exercise()->technique_case;
    double tiles = (double)ex_gemm_c(c) / (128 * 128);
    ex_require_at_most_per("barriers", tiles * 8, "warp of a tile of 128 x 128",
                           c->dim[1] / 64.0 + 1,
                           "while one buffer is multiplied, the other is filled");
}
END_TEST

/* Ideas of the ladder's last step. 64 x 32 elements a warp take 0.75 loads for 16 x 16 x 16
 * products, 64 x 64 take 0.5. */
static void ideas(void) {
    ex_suggest(ex_metric_value("async_copy_byte_distance") == 0,
               "copy the next piece asynchronously while one is multiplied", "13-async",
               "Asynchronous copies");
    ex_suggest(ex_metric_value("shared_load_requests") > 0.6 * cubes(),
               "let a warp compute 64 x 64 elements: 4 + 4 fragments serve 4 x 4 products",
               "14-tensor-cores", "By hand: mma_swizzle");
}

static void tests(TCase *correctness, TCase *goals, TCase *guards) {
    tcase_add_loop_test(correctness, matches_the_reference, 0, EX_COUNT(cases));
    tcase_add_test(goals, one_load_per_fragment);
    tcase_add_test(goals, no_bank_conflicts_and_no_padding);
    tcase_add_test(goals, one_barrier_per_piece);
    (void)guards; /* Each goal requires what the baseline does right. */
}

/* Timed with the same size as wmma_gemm. */
EXERCISE(mma_swizzle, .chapter = "14-tensor-cores", .title = "Fragments without conflicts",
         .args = args, .nargs = EX_COUNT(args), .cases = cases, .ncases = EX_COUNT(cases),
         .draw = {.dim = {{16, 288, .step = 16}, {64, 256, .step = 64}, {16, 288, .step = 16}},
                  .max_product = 6000000},
         .technique_case = {{256, 256, 256}}, .timed_case = {{1536, 1024, 1408}},
         .reference = ex_gemm_half_reference_transposed_b, .tolerance = ex_gemm_half_tolerance,
         .bytes = ex_gemm_half_bytes, .flops = ex_gemm_flops, .has_tensor_core_roof = true,
         .points = {.correctness = 0, .technique = 50, .speed = 50}, .tests = tests, .ideas = ideas,
         .baseline = "1-words");
