/* histogram_test.c — counts of the 256 values of a byte, for data of several kinds; graded on
 * skewed data. */
#include "common/exercise_limits.h"

enum { UNIFORM, SKEWED, CONSTANT, RAMP }; /* variants */

static size_t count(const struct ex_case *c) { return (size_t)c->dim[0]; }
static size_t bins(const struct ex_case *c) {
    (void)c;
    return 256;
}

/* SKEWED: nine of ten elements (230 of 256) have the same value, like the background of a picture.
 * One element uses only sixteen random bits, as the timed size has a hundred million. */
static uint8_t draw(const struct ex_case *c, uint64_t bits, size_t i) {
    if (c->variant == CONSTANT) return 255;
    if (c->variant == RAMP) return (uint8_t)i;
    return c->variant == SKEWED && (bits >> 8 & 255) < 230 ? 17 : (uint8_t)bits;
}

static void fill(const struct ex_case *c, struct ex_rng *r, void *data, size_t count) {
    uint64_t bits = 0;
    for (size_t i = 0; i < count; i++) {
        bits = i % 4 ? bits >> 16 : ex_random(r);
        ((uint8_t *)data)[i] = draw(c, bits, i);
    }
}

static void reference(const struct ex_case *c, void *const host[], void *const expected[]) {
    const uint8_t *data = host[1];
    int64_t *out = expected[0];
    for (long i = 0; i < c->dim[0]; i++) out[data[i]]++;
}

static double bytes(const struct ex_case *c) { return (double)count(c) + 1024; }
static double flops(const struct ex_case *c) { return count(c); }

static const struct ex_arg args[] = {
    {.name = "bins", .role = EX_OUT, .type = EX_I32, .count = bins},
    {.name = "data", .role = EX_IN, .type = EX_U8, .count = count, .fill = fill},
    {.name = "n", .role = EX_SCALAR, .type = EX_I32, .dim = 0},
};

static const struct ex_case cases[] = {
    {{0}, .label = "no data: all bins are 0"},
    {{1}, CONSTANT, "one byte, the last bin"},
    {{31}, .label = "one less than a warp"},
    {{33}, SKEWED, "one more than a warp, skewed"},
    {{255}, RAMP, "each value once, but for the last"},
    {{257}, RAMP, "each value once, the first twice"},
    {{1003}, CONSTANT, "all in one bin"},
    {{10007}, .label = "a prime, uniform"},
    {{65539}, SKEWED, "skewed, not a multiple of 4"},
    {{262143}, .label = "one less than a power of two"},
};

START_TEST(matches_the_reference) { ex_check_case(&cases[_i]); }
END_TEST

static double elements(void) { return count(&ex_current_exercise()->technique_case); }

/* Each block adds its private histogram to the global one once: 256 atomics for a few thousand
 * elements. */
static void require_private_bins(void) {
    ex_require_at_most_per(
        "atomic_operations", elements(), "element", 1.0 / 8,
        "a block counts in shared memory and adds its 256 bins to the global ones at the end");
    ex_require_at_most_per(
        "device_write_accesses", elements(), "element", 1.0 / 8,
        "bins in global memory that a thread has for itself are written for each element, too");
}

START_TEST(bins_are_privatized) { require_private_bins(); }
END_TEST

/* Nine of ten lanes update the same bin: a warp's shared atomic takes 29 wavefronts. With 8 copies
 * of each bin, selected by lane, it takes about 4; if threads count runs of equal bytes in a word
 * of four, about 9. Without private bins there is no contention in shared memory, so the test also
 * requires them. */
START_TEST(few_serialized_shared_atomics) {
    require_private_bins();
    ex_require_at_most_per(
        "shared_atomic_serialized", elements() / 32, "warp of elements", 12,
        "atomics on the same bin are serialized, unless there are several copies of it or lanes "
        "add up before");
}
END_TEST

START_TEST(reads_are_coalesced) {
    ex_require_coalesced_loads(1.125, "neighbouring threads look at neighbouring bytes");
}
END_TEST

START_TEST(many_SMs_work) { ex_require_min_blocks(32); }
END_TEST

/* Ideas that separate the ladder's last steps from the model solution. */
static void ideas(void) {
    ex_suggest(ex_metric_value("global_load_requests") > elements() / 256,
               "load 16 bytes at a time, so that more bytes are in flight", "02-coalescing",
               "By hand: vector_loads");
    ex_suggest(ex_metric_value("shared_atomic_serialized") > elements() / 16,
               "give each lane its own copy of the bins, in its own bank", "05-atomics-reduction",
               "By hand: histogram");
}

static void tests(TCase *correctness, TCase *goals, TCase *guards) {
    tcase_add_loop_test(correctness, matches_the_reference, 0, EX_COUNT(cases));
    tcase_add_test(goals, bins_are_privatized);
    tcase_add_test(goals, few_serialized_shared_atomics);
    tcase_add_test(guards, reads_are_coalesced);
    tcase_add_test(guards, many_SMs_work);
}

/* Timed with 128 MB, so that clearing and adding up private bins takes a small part of the time. */
EXERCISE(histogram, .chapter = "05-atomics-reduction", .title = "Private bins, and skewed data",
         .args = args, .nargs = EX_COUNT(args), .cases = cases, .ncases = EX_COUNT(cases),
         .draw = {.dim = {{1, 200000}},
                  .variants = {"uniform", "skewed", "all in one bin", "each value in turn"}},
         .technique_case = {{1 << 20}, SKEWED, NULL}, .timed_case = {{1 << 27}, SKEWED, NULL},
         .reference = reference, .bytes = bytes, .flops = flops,
         .points = {.correctness = 0, .technique = 50, .speed = 50}, .tests = tests, .ideas = ideas,
         .baseline = "1-global");
