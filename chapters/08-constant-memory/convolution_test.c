/* convolution_test.c — a one-dimensional convolution; graded on reading the filter from constant
 * memory. */
#include "common/exercise_limits.h"

enum { N, RADIUS };

static size_t count(const struct ex_case *c) { return (size_t)c->dim[N]; }
static size_t taps(const struct ex_case *c) { return 2 * (size_t)c->dim[RADIUS] + 1; }

/* Adds tap after tap to a piece of the output, which is fast on a CPU. The order of an element's
 * additions stays the same. */
static void reference(const struct ex_case *c, void *const host[], void *const expected[]) {
    enum { PIECE = 4096 };
    const float *in = host[1], *filter = host[2];
    double *out = expected[0];
    long n = c->dim[N], radius = c->dim[RADIUS];
    for (long first = 0; first < n; first += PIECE) {
        long end = first + PIECE < n ? first + PIECE : n;
        for (long i = first; i < end; i++) out[i] = 0;
        for (long k = -radius; k <= radius; k++) {
            long from = first + k < 0 ? -k : first, to = end + k > n ? n - k : end;
            for (long i = from; i < to; i++) out[i] += (double)in[i + k] * filter[k + radius];
        }
    }
}

/* A sum of `taps` products below 1: (taps + 1) u taps / 2, see exercise_gemm.h. */
static double tolerance(const struct ex_case *c, void *const host[], int arg, size_t index,
                        double expected) {
    (void)host, (void)arg, (void)index, (void)expected;
    return (taps(c) + 1.0) * EX_ROUNDOFF_F32 * (taps(c) / 2.0 + 1);
}

static double bytes(const struct ex_case *c) { return 8.0 * count(c) + 4.0 * taps(c); }
static double flops(const struct ex_case *c) { return 2.0 * count(c) * taps(c); }

static const struct ex_arg args[] = {
    {.name = "out", .role = EX_OUT, .type = EX_F32, .count = count},
    {.name = "in", .role = EX_IN, .type = EX_F32, .count = count},
    {.name = "filter", .role = EX_IN, .type = EX_F32, .count = taps},
    {.name = "n", .role = EX_SCALAR, .type = EX_I32, .dim = N},
    {.name = "radius", .role = EX_SCALAR, .type = EX_I32, .dim = RADIUS},
};

static const struct ex_case cases[] = {
    {{0, 3}, .label = "nothing to filter"},
    {{1, 0}, .label = "one element, one tap"},
    {{1, 64}, .label = "one element, the longest filter"},
    {{100, 0}, .label = "one tap: a scaling"},
    {{31, 1}, .label = "one less than a warp"},
    {{33, 2}, .label = "one more than a warp"},
    {{257, 31}, .label = "one more than a block"},
    {{50, 64}, .label = "the filter is longer than the array"},
    {{1009, 17}, .label = "a prime"},
    {{4097, 64}, .label = "the longest filter, many blocks"},
};

START_TEST(matches_the_reference) { ex_check_case(&cases[_i]); }
END_TEST

static double outputs(void) { return count(&ex_current_exercise()->technique_case); }
static double products(void) { return outputs() * taps(&ex_current_exercise()->technique_case); }

/* The other limits don't count reads of constant memory, so only the filter may be copied there. */
static void require_only_filter_copied(void) {
    ex_require_at_most("copied_bytes", 4.0 * taps(&ex_current_exercise()->technique_case),
                       "only the filter belongs in constant memory");
}

static double constants(void) { return ex_metric_value("const_load_threads"); }

/* With the filter in global memory, each product loads an element and a tap: 2. With constant
 * memory, or with a tile of the input, it is 1 or less. */
START_TEST(the_filter_is_not_loaded_from_global_memory) {
    ex_require_at_most_per("device_read_accesses", products(), "product",
                           1.0 + constants() / products(),
                           "only the input is loaded from global memory");
    require_only_filter_copied();
}
END_TEST

/* The limit is a twentieth: one instruction may load four taps, or four results of a thread may use
 * a tap, or both (a sixteenth). A version that reads one constant in each thread and the filter
 * from elsewhere makes 1/33. */
START_TEST(the_filter_is_in_constant_memory) {
    ex_require_at_least_per("const_requests", products() / 32, "warp-wide product", 0.05,
                            "the constant cache serves a tap that all lanes read at once");
    ex_require_at_most("const_serialized_accesses", 0,
                       "constant accesses of one warp to different words are serialized");
}
END_TEST

START_TEST(reads_are_coalesced) {
    ex_require_at_most_per("device_read_sectors", products() / 32, "warp-wide product",
                           5 + ex_metric_value("const_sectors") * 32 / products(),
                           "32 neighbours that start anywhere are 5 sectors");
    require_only_filter_copied();
}
END_TEST

START_TEST(many_SMs_work) { ex_require_min_blocks(8); }
END_TEST

/* Ideas that separate the ladder's last steps from the model solution. */
static void ideas(void) {
    ex_suggest(ex_metric_value("device_read_accesses") - constants() > 0.5 * products(),
               "bring the input and its halo into a tile, so that each element is loaded once",
               "03-tiling", "By hand: window_sum");
    ex_suggest(ex_metric_value("shared_read_requests_total") > 0.3 * products() / 32,
               "let each thread compute several neighbouring results, so that one read of the tile "
               "and of a tap serves several products",
               "08-constant-memory", "Several results a thread");
    ex_suggest(ex_metric_value("const_requests") > 0.2 * products() / 32,
               "give each thread two groups of four results, so that a tap serves eight products",
               "08-constant-memory", "Several results a thread");
}

static void tests(TCase *correctness, TCase *goals, TCase *guards) {
    tcase_add_loop_test(correctness, matches_the_reference, 0, EX_COUNT(cases));
    tcase_add_test(goals, the_filter_is_not_loaded_from_global_memory);
    tcase_add_test(goals, the_filter_is_in_constant_memory);
    tcase_add_test(goals, reads_are_coalesced);
    tcase_add_test(guards, many_SMs_work);
}

/* Timed with 256 MB in and out, so that the launch takes a small part of the time. What the chapter
 * is about, constant memory and a tile, gains a factor of 1.3 over the baseline; the model
 * solution's other factor comes from several results a thread. So the technique has most points. */
EXERCISE(convolution, .chapter = "08-constant-memory",
         .title = "A filter that all lanes read at once", .args = args, .nargs = EX_COUNT(args),
         .cases = cases, .ncases = EX_COUNT(cases), .draw = {.dim = {{1, 5000}, {0, 64}}},
         .technique_case = {{1 << 15, 16}}, .timed_case = {{1 << 25, 16}}, .reference = reference,
         .tolerance = tolerance, .bytes = bytes, .flops = flops,
         .points = {.correctness = 0, .technique = 80, .speed = 20}, .tests = tests, .ideas = ideas,
         .baseline = "1-global");
