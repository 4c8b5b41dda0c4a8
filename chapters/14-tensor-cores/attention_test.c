/* attention_test.c — softmax(q k^T / 8) v for several heads; graded on keeping the scores out of
 * memory and on tensor cores. */
#include "common/exercise_limits.h"

enum { HEADS, N, DIM = 64, MOST = 1024 };
/* Variants. PLAIN: q and k in [-1, 1). LARGE: in [-16, 16), so that exponentials overflow. RISING:
 * later keys have larger scores. */
enum { PLAIN, LARGE, RISING };

static size_t elements(const struct ex_case *c) {
    return (size_t)c->dim[HEADS] * (size_t)c->dim[N] * DIM;
}
static double max_magnitude(const struct ex_case *c) { return c->variant == LARGE ? 16 : 1; }

static void fill(const struct ex_case *c, struct ex_rng *r, void *data, size_t count) {
    for (size_t i = 0; i < count; i++)
        ((ex_half *)data)[i] = ex_half_from_double(max_magnitude(c) * ex_uniform(r, -1, 1));
}
static void fill_q(const struct ex_case *c, struct ex_rng *r, void *data, size_t count) {
    for (size_t i = 0; i < count; i++)
        ((ex_half *)data)[i] = ex_half_from_double(
            c->variant == RISING ? ex_uniform(r, 0, 1) : max_magnitude(c) * ex_uniform(r, -1, 1));
}
/* RISING: all elements of key j are about j / n, so that each tile has a new maximum. */
static void fill_k(const struct ex_case *c, struct ex_rng *r, void *data, size_t count) {
    size_t n = (size_t)c->dim[N];
    if (c->variant != RISING) fill(c, r, data, count);
    else
        for (size_t i = 0; i < count; i++)
            ((ex_half *)data)[i] =
                ex_half_from_double((double)(i / DIM % n) / (double)n + ex_uniform(r, -0.05, 0.05));
}
static void fill_v(const struct ex_case *c, struct ex_rng *r, void *data, size_t count) {
    (void)c;
    for (size_t i = 0; i < count; i++)
        ((ex_half *)data)[i] = ex_half_from_double(ex_uniform(r, -1, 1));
}

/* A head's keys, transposed, and values in double; both sums then go along rows. */
static double keys[DIM][MOST], values[MOST][DIM], weight[MOST];

static double softmax(long n) {
    double max_value = -INFINITY, sum = 0;
    for (long j = 0; j < n; j++) max_value = fmax(max_value, weight[j]);
    for (long j = 0; j < n; j++) sum += weight[j] = exp(weight[j] - max_value);
    return sum;
}

static void row(const ex_half *q, long n, double *out) {
    for (long j = 0; j < n; j++) weight[j] = 0;
    for (int l = 0; l < DIM; l++) {
        double of_query = ex_half_to_double(q[l]) / 8;
        for (long j = 0; j < n; j++) weight[j] += of_query * keys[l][j];
    }
    double sum = softmax(n);
    for (int l = 0; l < DIM; l++) out[l] = 0;
    for (long j = 0; j < n; j++)
        for (int l = 0; l < DIM; l++) out[l] += weight[j] / sum * values[j][l];
}

static void reference(const struct ex_case *c, void *const host[], void *const expected[]) {
    const ex_half *q = host[1], *k = host[2], *v = host[3];
    long n = c->dim[N];
    for (long h = 0; h < c->dim[HEADS]; h++) {
        size_t at = (size_t)(h * n) * DIM;
        for (long j = 0; j < n; j++)
            for (int l = 0; l < DIM; l++)
                keys[l][j] = ex_half_to_double(k[at + j * DIM + l]),
                values[j][l] = ex_half_to_double(v[at + j * DIM + l]);
        for (long i = 0; i < n; i++) row(q + at + i * DIM, n, (double *)expected[0] + at + i * DIM);
    }
}

/* |v| <= 1, so the error of out is the weights' relative error. Weights may be rounded to halves:
 * 2^-11. A score is a sum of 64 products divided by 8, each at most reach^2: its error is at most
 * 65 e 8 reach^2 with e = 2^-23 (exercise_gemm_half.h). A weight's relative error is twice its
 * score's absolute error, as the sum of the weights has that error, too. Exponentials and the sums
 * of n terms add (n + 16) 2^-24. */
static double tolerance(const struct ex_case *c, void *const host[], int arg, size_t index,
                        double expected) {
    (void)host, (void)arg, (void)index, (void)expected;
    double score = 65 * 2 * EX_ROUNDOFF_F32 * 8 * max_magnitude(c) * max_magnitude(c);
    return EX_ROUNDOFF_F16 + 2 * score + ((double)c->dim[N] + 16) * EX_ROUNDOFF_F32;
}

static double pairs_of(const struct ex_case *c) {
    return (double)c->dim[HEADS] * c->dim[N] * c->dim[N];
}
static double bytes(const struct ex_case *c) { return (3 * 2.0 + 4) * (double)elements(c); }
static double flops(const struct ex_case *c) { return 4.0 * DIM * pairs_of(c); }

static const struct ex_arg args[] = {
    {.name = "out", .role = EX_OUT, .type = EX_F32, .count = elements},
    {.name = "q", .role = EX_IN, .type = EX_F16, .count = elements, .fill = fill_q},
    {.name = "k", .role = EX_IN, .type = EX_F16, .count = elements, .fill = fill_k},
    {.name = "v", .role = EX_IN, .type = EX_F16, .count = elements, .fill = fill_v},
    {.name = "heads", .role = EX_SCALAR, .type = EX_I32, .dim = HEADS},
    {.name = "n", .role = EX_SCALAR, .type = EX_I32, .dim = N},
};

static const struct ex_case cases[] = {
    {{0, 64}, .label = "no heads: nothing to launch"},
    {{2, 0}, .label = "no rows: nothing to launch"},
    {{1, 16}, .label = "one tile"},
    {{1, 64}, .label = "as many keys as dimensions"},
    {{3, 48}, .label = "three heads"},
    {{2, 80}, .label = "sixteen more than 64"},
    {{1, 128}, LARGE, "values up to 16: exponentials overflow"},
    {{1, 272}, RISING, "each tile of keys has a new maximum"},
    {{2, 208}, .label = "a prime multiple of 16"},
    {{1, 1024}, .label = "many keys"},
};

START_TEST(matches_the_reference) { ex_check_case(&cases[_i]); }
END_TEST

static double pairs(void) { return pairs_of(&ex_current_exercise()->technique_case); }

/* The baseline writes n scores of a row twice and reads them four times: it writes n / 4 sectors
 * for an output row of 8. A block of q queries reads all keys and values, 8 sectors a key: 8 / q
 * sectors for each pair, 1/8 for 64. Local memory is limited, too. */
START_TEST(scores_stay_on_the_SM) {
    ex_require_at_most_per("device_write_sectors", ex_element_count(0) / 8, "sector of the output",
                           2.5, "nothing is written but the output");
    ex_require_at_most_per("device_read_sectors", pairs(), "query and key", 0.15,
                           "a block of 64 queries reads a key and its value once");
    ex_require_at_most_per("local_requests", pairs() / 32, "32 queries and keys", 0.1,
                           "local memory doesn't replace registers");
    ex_require_at_most("spill_bytes", 0, "what a lane holds must fit into its registers");
}
END_TEST

/* A pair takes 256 operations on tensor cores, 1/16 of a warp's instruction of 16 x 8 x 16;
 * exponentials, maxima and sums take about ten instructions for 32 pairs. Without tensor cores, a
 * pair takes 128 multiply-adds, 4 instructions of a warp. */
START_TEST(products_use_tensor_cores) {
    ex_require_at_most_per("inst_executed", pairs() / 32, "32 queries and keys", 40,
                           "one instruction of a warp multiplies 16 x 16 by 16 x 8");
    ex_require_at_most_per(
        "flops", pairs(), "query and key", 16,
        "lanes compute only the weights; both products belong on the tensor cores");
    ex_require_at_least_per("flops_matrix", pairs(), "query and key", 256,
                            "tensor cores compute both products");
}
END_TEST

/* Ideas that separate the ladder's last steps from the model solution. */
static void ideas(void) {
    ex_suggest(
        ex_metric_value("bank_conflicts") > 0,
        "exchange the chunks of a row by its number, so that eight rows lie in different banks",
        "14-tensor-cores", "Rows in banks");
    ex_suggest(
        ex_metric_value("async_copy_byte_distance") == 0,
        "copy the next tile of keys and values by cp.async into a second buffer while you compute",
        "13-async", "Asynchronous copies");
}

static void tests(TCase *correctness, TCase *goals, TCase *guards) {
    tcase_add_loop_test(correctness, matches_the_reference, 0, EX_COUNT(cases));
    tcase_add_test(goals, scores_stay_on_the_SM);
    tcase_add_test(goals, products_use_tensor_cores);
    (void)guards; /* The baseline does nothing right that could be lost. */
}

EXERCISE(attention, .chapter = "14-tensor-cores", .title = "Attention in one kernel", .args = args,
         .nargs = EX_COUNT(args), .cases = cases, .ncases = EX_COUNT(cases),
         .draw = {.dim = {{1, 4}, {16, 512, .step = 16}},
                  .max_product = 1000,
                  .variants = {"", "values up to 16", "later keys are nearer"}},
         .technique_case = {{2, 512}}, .timed_case = {{16, 1024}}, .reference = reference,
         .tolerance = tolerance, .bytes = bytes, .flops = flops, .has_tensor_core_roof = true,
         .points = {.correctness = 0, .technique = 50, .speed = 50}, .tests = tests, .ideas = ideas,
         .baseline = "1-three-kernels");
