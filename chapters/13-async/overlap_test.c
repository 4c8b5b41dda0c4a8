/* overlap_test.c — copies words from host memory, mixes them on the device and copies them back;
 * graded on copies in both directions at the same time. */
#include "common/exercise_limits.h"

enum { ROUNDS = 64, LANES = 64 };

static size_t words(const struct ex_case *c) { return (size_t)c->dim[0]; }

static uint32_t mix_bits(uint32_t x) {
    x ^= x >> 16;
    x *= 0x7feb352du;
    x ^= x >> 15;
    return x * 0x846ca68bu;
}

/* Handles a group of words at a time, so that the compiler can vectorize. */
static void reference(const struct ex_case *c, void *const host[], void *const expected[]) {
    int64_t *out = expected[0];
    const uint32_t *in = host[1];
    size_t n = words(c);
    for (size_t i = 0; i < n; i += LANES) {
        uint32_t x[LANES] = {0};
        size_t m = n - i < LANES ? n - i : LANES;
        for (size_t k = 0; k < m; k++) x[k] = in[i + k];
        for (int r = 0; r < ROUNDS; r++)
            for (int k = 0; k < LANES; k++) x[k] = mix_bits(x[k]);
        for (size_t k = 0; k < m; k++) out[i + k] = x[k];
    }
}

/* All 32 bits are random. */
static void fill_words(const struct ex_case *c, struct ex_rng *r, void *data, size_t n) {
    (void)c;
    uint32_t *word = data;
    for (size_t i = 0; i < n; i++) word[i] = (uint32_t)ex_random(r);
}

static double bytes(const struct ex_case *c) { return 8.0 * words(c); }

static const struct ex_arg args[] = {
    {.name = "out", .role = EX_OUT, .type = EX_U32, .count = words, .is_pinned_host = true},
    {.name = "in",
     .role = EX_IN,
     .type = EX_U32,
     .count = words,
     .fill = fill_words,
     .is_pinned_host = true},
    {.name = "n", .role = EX_SCALAR, .type = EX_I32, .dim = 0},
};

static const struct ex_case cases[] = {
    {{0}, .label = "nothing to do"},
    {{1}, .label = "one word"},
    {{7}, .label = "fewer words than parts"},
    {{33}, .label = "one more than a warp"},
    {{1000}, .label = "not a multiple of a block"},
    {{4096}, .label = "a power of two"},
    {{65537}, .label = "one past a power of two"},
    {{99991}, .label = "a prime number of words"},
    {{262144}, .label = "a megabyte"},
    {{300007}, .label = "a prime number, again"},
};

START_TEST(matches_the_reference) { ex_check_case(&cases[_i]); }
END_TEST

static double bus_crossing_bytes(void) { return bytes(&ex_current_exercise()->technique_case); }

/* Half of the bytes go each way, so at best the copies take half of the time that they would take
 * one after another. The first copy in and the last copy out overlap with no other copy. With n
 * equal parts, the share is 1/2 + 1/2n: at most 0.6 with five parts or more. */
START_TEST(copies_overlap_in_both_directions) {
    ex_require_at_most_per("bus_critical_path", bus_crossing_bytes(), "byte that crosses the bus",
                           0.6, "one part can be copied in while another one is copied out");
}
END_TEST

/* Each word is copied once each way and mixed once: 64 rounds of 6 instructions for 32 words, and
 * little else. */
START_TEST(no_redundant_work) {
    ex_require_at_most_per("bus_bytes", bus_crossing_bytes(), "byte that crosses the bus", 1.01,
                           "each word is copied in once and out once");
    ex_require_at_most_per("inst_executed", words(&ex_current_exercise()->technique_case) / 32.0,
                           "32 words", 640, "each word is mixed once");
    ex_require_at_most_per("device_read_sectors",
                           bytes(&ex_current_exercise()->technique_case) / 64,
                           "sector of the problem", 1.1, "a kernel reads each word once");
}
END_TEST

START_TEST(accesses_are_coalesced) {
    ex_require_coalesced_loads(1.1, "words lie one after another");
    ex_require_coalesced_stores(1.1, "words lie one after another");
}
END_TEST

/* Ideas that separate the ladder's last steps from the model solution. */
static void ideas(void) {
    ex_suggest(
        true,
        "launch the kernel of each part in the stream of its copies, not in the default stream",
        "13-async", "Streams and graphs");
}

static void tests(TCase *correctness, TCase *goals, TCase *guards) {
    tcase_add_loop_test(correctness, matches_the_reference, 0, EX_COUNT(cases));
    tcase_add_test(goals, copies_overlap_in_both_directions);
    tcase_add_test(guards, no_redundant_work);
    tcase_add_test(guards, accesses_are_coalesced);
}

/* Timed with 16 MiB each way. */
EXERCISE(overlap, .chapter = "13-async", .title = "Copies in, work and copies out at once",
         .args = args, .nargs = EX_COUNT(args), .cases = cases, .ncases = EX_COUNT(cases),
         .draw = {.dim = {{1, 400000}}}, .technique_case = {{1000004}}, .timed_case = {{4200001}},
         .reference = reference, .bytes = bytes,
         .points = {.correctness = 0, .technique = 70, .speed = 30}, .tests = tests, .ideas = ideas,
         .baseline = "1-whole");
