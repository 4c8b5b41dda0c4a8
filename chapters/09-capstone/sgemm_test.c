/* sgemm_test.c — C = alpha A B + beta C in single precision; graded mainly on speed. */
#include "common/exercise_gemm.h"

enum { PLAIN, BETA_ZERO, ALPHA_ZERO }; /* variants */

static double alpha(const struct ex_case *c, struct ex_rng *r) {
    return c->variant == ALPHA_ZERO ? 0 : (float)ex_uniform(r, 0.5, 2);
}
static double beta(const struct ex_case *c, struct ex_rng *r) {
    return c->variant == BETA_ZERO ? 0 : (float)ex_uniform(r, -2, -0.5);
}

/* With beta = 0, an entry must not read C, which is full of NaNs. */
static void fill_c(const struct ex_case *c, struct ex_rng *r, void *data, size_t count) {
    for (size_t i = 0; i < count; i++)
        ((float *)data)[i] = c->variant == BETA_ZERO ? NAN : (float)ex_uniform(r, -1, 1);
}

static void reference(const struct ex_case *c, void *const host[], void *const expected[]) {
    const float *initial_c = host[0];
    double *out = expected[0], alpha_value = *(float *)host[6], beta_value = *(float *)host[7];
    ex_gemm_reference(c, host, expected);
    for (size_t i = 0; i < ex_gemm_c(c); i++)
        out[i] = alpha_value * out[i] + (beta_value == 0 ? 0 : beta_value * initial_c[i]);
}

/* The product's bound (exercise_gemm.h) times alpha, and three more roundings of values up to alpha
 * k + beta. */
static double tolerance(const struct ex_case *c, void *const host[], int arg, size_t index,
                        double expected) {
    double alpha_value = fabs(*(float *)host[6]), beta_value = fabs(*(float *)host[7]);
    return alpha_value * ex_gemm_tolerance(c, host, arg, index, expected) +
           3 * EX_ROUNDOFF_F32 * (fabs(expected) + beta_value);
}

static double bytes(const struct ex_case *c) { return ex_gemm_bytes(c) + 4.0 * ex_gemm_c(c); }

static const struct ex_arg args[] = {
    {.name = "c",
     .role = EX_INOUT,
     .type = EX_F32,
     .count = ex_gemm_c,
     .fill = fill_c,
     .shape = {1, 3}},
    {.name = "a", .role = EX_IN, .type = EX_F32, .count = ex_gemm_a, .shape = {1, 2}},
    {.name = "b", .role = EX_IN, .type = EX_F32, .count = ex_gemm_b, .shape = {2, 3}},
    {.name = "n", .role = EX_SCALAR, .type = EX_I32, .dim = 0},
    {.name = "k", .role = EX_SCALAR, .type = EX_I32, .dim = 1},
    {.name = "m", .role = EX_SCALAR, .type = EX_I32, .dim = 2},
    {.name = "alpha", .role = EX_SCALAR, .type = EX_F32, .value = alpha},
    {.name = "beta", .role = EX_SCALAR, .type = EX_F32, .value = beta},
};

static const struct ex_case cases[] = {
    {{0, 5, 7}, .label = "no rows: nothing to launch"},
    {{5, 7, 0}, .label = "no columns: nothing to launch"},
    {{5, 0, 7}, .label = "k = 0: C is scaled"},
    {{1, 1, 1}, .label = "a single product"},
    {{31, 33, 32}, .label = "rows of A are not aligned"},
    {{32, 32, 33}, .label = "rows of B and C are not aligned"},
    {{128, 8, 128}, .label = "one large tile, one step"},
    {{128, 16, 128}, .label = "one large tile, two steps"},
    {{129, 20, 132}, .label = "one past a large tile, aligned rows"},
    {{127, 41, 131}, .label = "prime sizes"},
    {{4, 100, 260}, .label = "wide"},
    {{260, 12, 4}, .label = "tall"},
    {{65, 24, 68}, BETA_ZERO, "beta = 0, and C is full of NaNs"},
    {{33, 9, 37}, ALPHA_ZERO, "alpha = 0: C is scaled"},
};

START_TEST(matches_the_reference) { ex_check_case(&cases[_i]); }
END_TEST

static double products(void) { return ex_gemm_products(&ex_current_exercise()->technique_case); }

/* A version without tiles would meet any limit on the cost of tiles. So would one in which each
 * thread moves the values that it reads through shared memory for itself alone, for example with
 * asynchronous copies: 2 reads a product. Tiles of 16 x 16 make 0.14. */
static void require_shared_tiles(void) {
    ex_require_at_least_per("shared_load_requests", products() / 32, "warp-wide product", 0.01,
                            "the values come from tiles in shared memory");
    ex_require_at_most_per("device_read_accesses", products(), "product", 0.25,
                           "a value in a tile serves many threads");
}

/* These goals are the ladder's steps that counters show; see matmul_tiled and matmul_register. A
 * tile of 128 x 128, fetched with vectors, makes 1/256 loads a product; one of 64 x 64, 1/128. (C
 * adds 1/64 of a load for k = 64.) */
START_TEST(tiles_are_large_and_loads_vectorized) {
    ex_require_at_most_per("device_read_accesses", products(), "product", 1.0 / 128 + 1.0 / 64,
                           "two tiles of 64 x 64 or larger, 16 bytes a lane, and C once");
    ex_require_at_most_per("device_read_sectors", products(), "product", 0.012,
                           "each sector that a tile of 64 or more touches is used whole");
}
END_TEST

/* 8 x 8 products make 0.0625; with mbarriers, each warp adds an arrival and a wait or two for each
 * tile. 8 x 6 products make 0.073. */
START_TEST(values_are_reused_in_registers) {
    require_shared_tiles();
    ex_require_at_most_per(
        "shared_read_requests_total", products() / 32, "warp-wide product", 0.07,
        "8 x 8 products need 16 values: four vectors, or eight values four steps deep");
    ex_require_at_most(
        "local_requests", 0,
        "an array that is indexed by a variable lives in local memory, not in registers");
    ex_require_at_most("spill_bytes", 0, "64 sums and two buffers must fit into the registers");
}
END_TEST

/* 0.02 is one extra wavefront for three of the reads that 8 x 8 products need. Asynchronous copies
 * of 16 bytes into rows that are padded for the reads make 0.008 and cost nothing: the version with
 * these copies is the faster one. */
START_TEST(few_bank_conflicts) {
    require_shared_tiles();
    ex_require_at_most_per("bank_conflicts", products() / 32, "warp-wide product", 0.02,
                           "both tiles can be stored and read without conflicts");
}
END_TEST

/* One barrier for each piece of k, if the next piece has a buffer of its own. Pieces are at least 8
 * deep: 8 warps wait for 8 pieces and once more, for a tile of 128 x 128 (256 threads) and k = 64.
 * One buffer takes twice as many. (One buffer of pieces 16 deep takes as many barriers and bytes as
 * two of 8. No counter distinguishes them, but the time differs by a third.) */
START_TEST(one_barrier_per_piece) {
    require_shared_tiles();
    const struct ex_case *c = &ex_current_exercise()->technique_case;
    double tiles = (double)ex_gemm_c(c) / (128 * 128), pieces = c->dim[1] / 8.0;
    ex_require_at_most_per("barriers", tiles * 8, "warp of a tile of 128 x 128", pieces + 1,
                           "while one buffer is used, the other is filled");
}
END_TEST

/* Ideas that separate the ladder's last step from the model solution. 8 x 8 sums a thread take
 * 0.0625 loads for each warp-wide product, 8 x 16 sums 0.047. */
static void ideas(void) {
    ex_suggest(ex_metric_value("shared_load_requests") > 0.055 * products() / 32,
               "let each thread compute 8 x 16 sums, so that a load serves more products",
               "09-capstone", "How much does each level deliver?");
    ex_suggest(ex_metric_value("async_copy_byte_distance") == 0,
               "copy the next piece of B asynchronously, past the registers", "13-async",
               "Asynchronous copies");
}

static void tests(TCase *correctness, TCase *goals, TCase *guards) {
    tcase_add_loop_test(correctness, matches_the_reference, 0, EX_COUNT(cases));
    tcase_add_test(goals, tiles_are_large_and_loads_vectorized);
    tcase_add_test(goals, values_are_reused_in_registers);
    tcase_add_test(goals, few_bank_conflicts);
    tcase_add_test(goals, one_barrier_per_piece);
    (void)guards; /* The baseline does nothing right that could be lost. */
}

/* Timed with 12 x 22 tiles of 128 x 128, two for each of an H200's 132 SMs, so that a partial last
 * wave doesn't affect the time. k is long enough that C (8 us in and out) is short compared with
 * the arithmetic (132 us). */
EXERCISE(sgemm, .chapter = "09-capstone", .title = "The whole ladder", .args = args,
         .nargs = EX_COUNT(args), .cases = cases, .ncases = EX_COUNT(cases),
         .draw = {.dim = {{1, 280}, {1, 200}, {1, 280}},
                  .max_product = 600000,
                  .variants = {"", "beta = 0", "alpha = 0"}},
         .technique_case = {{256, 64, 256}}, .timed_case = {{1536, 1024, 2816}},
         .reference = reference, .tolerance = tolerance, .bytes = bytes, .flops = ex_gemm_flops,
         .points = {.correctness = 0, .technique = 50, .speed = 50}, .tests = tests, .ideas = ideas,
         .baseline = "2-coalesced");
