/* segmented_sum_test.c — sums of consecutive segments of an array; graded on atomics and shared
 * memory. */
#include "common/exercise_limits.h"

enum { N, SEGMENTS };
enum { MIXED, SINGLE, ONE, WARPS, LATE, LONGER }; /* variants: how long segments are */
enum { MAX_MIXED_LENGTH = 48 };                   /* elements of a mixed one; 24.5 on average */

static size_t count(const struct ex_case *c) { return (size_t)c->dim[N]; }
static size_t segments(const struct ex_case *c) { return (size_t)c->dim[SEGMENTS]; }

static long length(const struct ex_case *c, struct ex_rng *r) {
    switch (c->variant) {
    case SINGLE: return 1;
    case ONE:
    case LATE: return c->dim[N] + 1;
    case WARPS: return 32;
    case LONGER: return ex_uniform_int(r, 33, 1000);
    default: return ex_uniform_int(r, 1, MAX_MIXED_LENGTH);
    }
}

/* One of eight segments is empty, if there are enough. The last one has the remaining elements.
 * LATE: all but the last are empty. */
static void fill_segment(const struct ex_case *c, struct ex_rng *r, void *data, size_t n) {
    long last = c->dim[SEGMENTS] - 1, id = c->variant == LATE ? last : 0, left = length(c, r);
    for (size_t i = 0; i < n; i++, left--) {
        if (!left)
            left = length(c, r), id += c->variant == MIXED && ex_uniform_int(r, 0, 7) == 0 ? 2 : 1;
        if (id > last) id = last;
        ((int32_t *)data)[i] = (int32_t)id;
    }
}

static void reference(const struct ex_case *c, void *const host[], void *const expected[]) {
    const float *values = host[1];
    const int32_t *segment = host[2];
    double *sums = expected[0];
    for (long s = 0; s < c->dim[SEGMENTS]; s++) sums[s] = 0;
    for (long i = 0; i < c->dim[N]; i++) sums[segment[i]] += values[i];
}

/* Returns the first element whose segment is `s` or a later one. */
static long first_of(const struct ex_case *c, const int32_t *segment, long s) {
    long low = 0, high = c->dim[N];
    while (low < high) {
        long middle = (low + high) / 2;
        if (segment[middle] < s) low = middle + 1;
        else high = middle;
    }
    return low;
}

/* n values in any order: |error| <= (n - 1) u sum |x| to first order (Higham, Accuracy and
 * Stability, 4.2). */
static double tolerance(const struct ex_case *c, void *const host[], int arg, size_t index,
                        double expected) {
    (void)arg, (void)expected;
    const float *values = host[1];
    const int32_t *segment = host[2];
    long first = first_of(c, segment, (long)index), end = first_of(c, segment, (long)index + 1);
    double magnitude = 0;
    for (long i = first; i < end; i++) magnitude += fabs(values[i]);
    return (double)(end - first) * EX_ROUNDOFF_F32 * magnitude;
}

static double bytes(const struct ex_case *c) { return 8.0 * count(c) + 4.0 * segments(c); }
static double flops(const struct ex_case *c) { return count(c); }

static const struct ex_arg args[] = {
    {.name = "sums", .role = EX_OUT, .type = EX_F32, .count = segments},
    {.name = "values", .role = EX_IN, .type = EX_F32, .count = count},
    {.name = "segment", .role = EX_IN, .type = EX_I32, .count = count, .fill = fill_segment},
    {.name = "n", .role = EX_SCALAR, .type = EX_I32, .dim = N},
    {.name = "segments", .role = EX_SCALAR, .type = EX_I32, .dim = SEGMENTS},
};

static const struct ex_case cases[] = {
    {{0, 3}, .label = "no elements: all sums are 0"},
    {{1, 1}, .label = "one element, one segment"},
    {{31, 31}, SINGLE, "one less than a warp, each a segment"},
    {{32, 1}, ONE, "a warp, one segment"},
    {{33, 1}, ONE, "one segment that ends one past a warp"},
    {{96, 3}, WARPS, "three segments of a warp each"},
    {{255, 255}, SINGLE, "one less than a block, each a segment"},
    {{257, 20}, .label = "one more than a block"},
    {{257, 1000}, LATE, "only the last segment has elements"},
    {{1009, 100}, .label = "a prime"},
    {{5000, 40}, LONGER, "segments that reach over several warps"},
    {{65537, 1}, ONE, "one segment, one past a power of two"},
    {{65535, 65535}, SINGLE, "each a segment, one less than a power of two"},
    {{300007, 20000}, .label = "many segments, a prime"},
};

START_TEST(matches_the_reference) { ex_check_case(&cases[_i]); }
END_TEST

static double elements(void) { return count(&ex_current_exercise()->technique_case); }

/* A scan in shared memory takes 9 barriers for 8 warps, 72; each round reads up to two sums and a
 * segment and writes a sum, 32 accesses for a warp in all. Shuffles need neither. With segments of
 * 24.5 elements on average, 1.3 start in a warp's 32 elements and one continues from before: 2.3
 * sums a warp. The baseline makes 1.4 a warp, a version with one atomic for each element 32. */
START_TEST(lanes_reduce_by_shuffles) {
    ex_require_at_most_per("barriers", elements() / 256, "256 elements", 16,
                           "lanes of one warp need no barrier of the block");
    ex_require_at_most_per("shared_requests_total", elements() / 32, "warp of elements", 4,
                           "lanes can hand values to each other without memory");
    ex_require_at_most_per("local_requests", elements() / 32, "warp of elements", 1,
                           "local memory doesn't replace registers");
    ex_require_at_most_per(
        "device_read_sectors", elements() / 4, "sector of the input", 1.75,
        "values are read once, segments twice at most; what is added up in global "
        "memory is read there, too");
    ex_require_at_most_per("atomic_operations", elements() / 32, "warp of elements", 4,
                           "lanes of one segment add up before one of them updates memory");
    ex_require_at_most_per("device_write_accesses", elements() / 32, "warp of elements", 6,
                           "a sum that another kernel adds up takes a store, too");
    ex_require_at_most_per("inst_executed", elements() / 32, "warp of elements", 144,
                           "work that one lane does for 32 takes the warp 32 times as long");
}
END_TEST

START_TEST(reads_are_coalesced) {
    ex_require_coalesced_loads(1.25, "neighbouring lanes look at neighbouring elements");
}
END_TEST

START_TEST(many_SMs_work) { ex_require_min_blocks(EX_MIN_BLOCKS); }
END_TEST

/* Ideas that separate the ladder's last steps from the model solution. */
static void ideas(void) {
    ex_suggest(true,
               "let a warp load 128 elements before it adds the first, and carry the open segment "
               "from round to round",
               "00-roofline", "Example: one element a thread, or several");
}

static void tests(TCase *correctness, TCase *goals, TCase *guards) {
    tcase_add_loop_test(correctness, matches_the_reference, 0, EX_COUNT(cases));
    tcase_add_test(goals, lanes_reduce_by_shuffles);
    tcase_add_test(guards, reads_are_coalesced);
    tcase_add_test(guards, many_SMs_work);
}

/* Timed with 128 MB in and 4 MB out. */
EXERCISE(segmented_sum, .chapter = "10-warps", .title = "Sums of segments, by flags", .args = args,
         .nargs = EX_COUNT(args), .cases = cases, .ncases = EX_COUNT(cases),
         .draw = {.dim = {{1, 200000}, {1, 20000}},
                  .variants = {"segments of 1 to 48", "each element a segment", "one segment"}},
         .technique_case = {{1 << 20, 1 << 16}}, .timed_case = {{1 << 24, 1 << 20}},
         .reference = reference, .tolerance = tolerance, .bytes = bytes, .flops = flops,
         .points = {.correctness = 0, .technique = 70, .speed = 30}, .tests = tests, .ideas = ideas,
         .baseline = "1-shared");
