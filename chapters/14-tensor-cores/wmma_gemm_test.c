/* wmma_gemm_test.c — a product of matrices of halves; graded on tensor cores, the size of tiles and
 * the reuse of fragments. */
#include "common/exercise_gemm_half.h"

static const struct ex_arg args[] = {
    {.name = "c", .role = EX_OUT, .type = EX_F32, .count = ex_gemm_c, .shape = {1, 3}},
    {.name = "a", .role = EX_IN, .type = EX_F16, .count = ex_gemm_a, .shape = {1, 2}},
    {.name = "b", .role = EX_IN, .type = EX_F16, .count = ex_gemm_b, .shape = {2, 3}},
    {.name = "n", .role = EX_SCALAR, .type = EX_I32, .dim = 0},
    {.name = "k", .role = EX_SCALAR, .type = EX_I32, .dim = 1},
    {.name = "m", .role = EX_SCALAR, .type = EX_I32, .dim = 2},
};

static const struct ex_case cases[] = {
    {{0, 16, 32}, .label = "no rows: nothing to launch"},
    {{32, 16, 0}, .label = "no columns: nothing to launch"},
    {{32, 0, 48}, .label = "k = 0: c is zero"},
    {{16, 16, 16}, .label = "one tile"},
    {{16, 48, 16}, .label = "one tile, three steps of k"},
    {{48, 16, 32}, .label = "tiles below each other, and side by side"},
    {{128, 64, 128}, .label = "powers of two"},
    {{144, 80, 112}, .label = "sixteen more, and sixteen less"},
    {{16, 32, 400}, .label = "wide"},
    {{400, 32, 16}, .label = "tall"},
    {{208, 176, 272}, .label = "prime multiples of 16"},
    {{64, 1040, 48}, .label = "long sums"},
};

START_TEST(matches_the_reference) { ex_check_case(&cases[_i]); }
END_TEST

static double products(void) { return ex_gemm_products(&ex_current_exercise()->technique_case); }
static double cubes(void) { return products() / (16 * 16 * 16); }

/* A product of 16 x 16 x 16, a cube, is one instruction of a warp instead of 128 multiply-adds and
 * their loads. A version could execute useless tensor operations, so the limit is on all
 * instructions of a warp: 4096 x 4.3 / 32 for a cube in the baseline, 18 if a warp loads two
 * fragments for each. */
static void require_tensor_core_products(void) {
    ex_require_at_most_per("inst_executed", cubes(), "16 x 16 x 16 products", 40,
                           "one instruction of a warp multiplies 16 x 16 by 16 x 16");
    ex_require_at_most_per("flops", products(), "product", 0.1,
                           "tensor cores compute all products, so lanes multiply nothing");
    ex_require_at_least_per("flops_matrix", products(), "product", 2,
                            "each product is a multiplication and an addition there");
}

START_TEST(products_use_tensor_cores) { require_tensor_core_products(); }
END_TEST

/* Tiles of p x q of c need (p + q) / (16 p q) sectors a product: 1/256 for 32 x 32, 1/512 for
 * 64 x 64, 1/683 for 128 x 64, 1/1024 for 128 x 128. A single warp has registers for 64 x 64
 * without shared memory; a larger tile requires a block. */
START_TEST(tiles_are_large) {
    ex_require_at_most_per("device_read_sectors", products(), "product", 1.0 / 650,
                           "a tile of 128 x 64 or larger is read for all");
}
END_TEST

/* A warp with p x q fragments of sums loads p + q fragments for p q products: 2 for one, 0.75 for 4
 * x 2, 0.5 for 4 x 4. A fragment takes one access, with wmma and with ldmatrix. Rows of 2^n bytes
 * start in the same bank, and eight of them take eight wavefronts. The first limits refuse versions
 * without fragments in shared memory: lanes that exchange values with shuffles, or a warp that
 * loads from global memory. */
START_TEST(fragments_are_reused) {
    require_tensor_core_products();
    ex_require_at_least_per("shared_load_requests", cubes(), "16 x 16 x 16 products", 0.25,
                            "fragments come from shared memory");
    ex_require_at_most_per("shared_read_requests_total", cubes(), "16 x 16 x 16 products", 0.875,
                           "4 + 2 fragments are enough for 4 x 2 products");
    ex_require_at_most_per("bank_conflicts", cubes(), "16 x 16 x 16 products", 0.75,
                           "eight rows of a fragment can begin in eight different banks");
    ex_require_at_most(
        "local_requests", 0,
        "an array of fragments that a loop indexes must be unrolled to stay in registers");
    ex_require_at_most("spill_bytes", 0, "the sums and the fragments must fit into the registers");
}
END_TEST

START_TEST(reads_are_coalesced) {
    ex_require_coalesced_loads(1.25, "rows are read in whole sectors");
}
END_TEST

/* Ideas of the ladder's last step. With k = 128, a warp waits twice for pieces 64 deep and three
 * buffers, 4 times or more for pieces of 32. */
static void ideas(void) {
    ex_suggest(ex_metric_value("async_copy_byte_distance") == 0,
               "copy the next pieces asynchronously while one is multiplied", "13-async",
               "Asynchronous copies");
    ex_suggest(ex_metric_value("barriers") > 3 * ex_current_exercise()->technique_case.dim[1] /
                                                 128 * ex_metric_value("threads") / 32,
               "multiply pieces 64 deep, which need half as many barriers as pieces of 32",
               "09-capstone", "Two buffers");
}

static void tests(TCase *correctness, TCase *goals, TCase *guards) {
    tcase_add_loop_test(correctness, matches_the_reference, 0, EX_COUNT(cases));
    tcase_add_test(goals, products_use_tensor_cores);
    tcase_add_test(goals, tiles_are_large);
    tcase_add_test(goals, fragments_are_reused);
    tcase_add_test(guards, reads_are_coalesced);
}

/* Timed with 12 x 11 tiles of 128 x 128, one for each of 132 SMs, so that a partial last wave
 * doesn't affect the time. */
EXERCISE(wmma_gemm, .chapter = "14-tensor-cores", .title = "Products on tensor cores", .args = args,
         .nargs = EX_COUNT(args), .cases = cases, .ncases = EX_COUNT(cases),
         .draw = {.dim = {{16, 288, .step = 16}, {16, 208, .step = 16}, {16, 288, .step = 16}},
                  .max_product = 6000000},
         .technique_case = {{256, 128, 256}}, .timed_case = {{1536, 1024, 1408}},
         .reference = ex_gemm_half_reference, .tolerance = ex_gemm_half_tolerance,
         .bytes = ex_gemm_half_bytes, .flops = ex_gemm_flops, .has_tensor_core_roof = true,
         .points = {.correctness = 0, .technique = 50, .speed = 50}, .tests = tests, .ideas = ideas,
         .baseline = "1-tiles");
