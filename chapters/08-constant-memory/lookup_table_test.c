/* lookup_table_test.c — a hash by 16 rounds, each with a key that all lanes share and a table whose
 * index depends on the lane; graded on where each of the two is kept. */
#include "common/exercise_limits.h"

enum { ENTRIES = 256, ROUNDS = 16 };
enum { OUT, IN, TABLE, KEYS };
enum { RANDOM, ALL_EQUAL, RAMP, ONE_BANK };

static size_t count(const struct ex_case *c) { return (size_t)c->dim[0]; }
static size_t entries(const struct ex_case *c) { return (void)c, ENTRIES; }
static size_t rounds(const struct ex_case *c) { return (void)c, ROUNDS; }

/* All 32 bits are random. */
static void fill_words(const struct ex_case *c, struct ex_rng *r, void *data, size_t n) {
    (void)c;
    for (size_t i = 0; i < n; i++) ((uint32_t *)data)[i] = (uint32_t)ex_random(r);
}

/* Indices of one bank differ by multiples of 32: a single copy of the table serves them one after
 * another. Only those of the first round do, since the rounds mix. */
static void fill(const struct ex_case *c, struct ex_rng *r, void *data, size_t n) {
    uint32_t *x = data, any = (uint32_t)ex_random(r);
    for (size_t i = 0; i < n; i++) switch (c->variant) {
        case ALL_EQUAL: x[i] = any; break;
        case RAMP: x[i] = any + (uint32_t)i; break;
        case ONE_BANK: x[i] = any + 32 * (uint32_t)i; break;
        default: x[i] = (uint32_t)ex_random(r);
        }
}

static void reference(const struct ex_case *c, void *const host[], void *const expected[]) {
    const uint32_t *in = host[IN], *table = host[TABLE], *key = host[KEYS];
    int64_t *out = expected[OUT];
    for (size_t i = 0; i < count(c); i++) {
        uint32_t x = in[i];
        for (int k = 0; k < ROUNDS; k++) {
            x ^= key[k];
            x = table[x & 255] ^ (x >> 8);
        }
        out[i] = x;
    }
}

static double bytes(const struct ex_case *c) { return 8.0 * count(c) + 4 * (ENTRIES + ROUNDS); }
static double flops(const struct ex_case *c) { return ROUNDS * 4.0 * count(c); }

static const struct ex_arg args[] = {
    {.name = "out", .role = EX_OUT, .type = EX_U32, .count = count},
    {.name = "in", .role = EX_IN, .type = EX_U32, .count = count, .fill = fill},
    {.name = "table", .role = EX_IN, .type = EX_U32, .count = entries, .fill = fill_words},
    {.name = "keys", .role = EX_IN, .type = EX_U32, .count = rounds, .fill = fill_words},
    {.name = "n", .role = EX_SCALAR, .type = EX_I32, .dim = 0},
};

static const struct ex_case cases[] = {
    {{0}, .label = "no elements"},
    {{1}, .label = "one element"},
    {{31}, .label = "one less than a warp"},
    {{33}, .label = "one more than a warp"},
    {{256}, RAMP, "each index once in the first round"},
    {{257}, ALL_EQUAL, "all elements are equal"},
    {{1009}, RAMP, "a prime"},
    {{4099}, ONE_BANK, "indices that differ by multiples of 32"},
    {{70001}, .label = "many blocks"},
};

START_TEST(matches_the_reference) { ex_check_case(&cases[_i]); }
END_TEST

static double lookups(void) { return ex_element_count(OUT) / 32 * ROUNDS; }

/* Other ways to avoid serialized accesses: lanes take turns, in 32 loads, or all lanes go through
 * the table and pick their entries, in 256 steps. */
START_TEST(the_table_is_not_in_constant_memory) {
    ex_require_at_most_per("const_serialized_accesses", lookups(), "warp-wide lookup", 0,
                           "the constant cache serves one address at a time");
    ex_require_at_most_per("device_read_requests", lookups(), "warp-wide lookup", 2.1,
                           "a key and an entry are a load each, for all lanes together");
    ex_require_at_most_per("inst_executed", lookups(), "warp-wide lookup", 24,
                           "a lookup is a single load");
}
END_TEST

/* 32 random indices touch about 20 of the table's 32 sectors, where 4 could hold 32 words: 16 are
 * excessive. In one copy in shared memory, the fullest bank has 3 to 4 of the 32 words. A quarter
 * is out of reach for 16 copies, where two lanes share a bank: they conflict in most warps. */
START_TEST(lookups_are_served_at_once) {
    ex_require_at_most_per("excessive_read_sectors", lookups(), "warp-wide lookup", 1,
                           "a table in shared memory is loaded once per block");
    ex_require_at_most_per(
        "device_read_requests", lookups(), "warp-wide lookup", 1.5,
        "a lookup in shared memory loads nothing else; a key is at most one load");
    ex_require_at_most_per("bank_conflicts", lookups(), "warp-wide lookup", 0.25,
                           "if each bank has a copy of the table, each lane can use its own bank");
}
END_TEST

/* A load from constant memory can bring four keys, and it can stand before the loop over the
 * elements: four loads for each warp. A version with the keys in shared memory makes more reads
 * than one for each lookup. */
START_TEST(keys_are_in_constant_memory) {
    ex_require_at_least_per("const_requests", ex_metric_value("threads") / 32, "warp", 4,
                            "all lanes read the same key, which the constant cache serves at once");
    ex_require_at_most_per("shared_read_requests_total", lookups(), "warp-wide lookup", 1.1,
                           "only the lookups need shared memory");
}
END_TEST

START_TEST(writes_are_coalesced) {
    ex_require_coalesced_stores(1.125, "neighbouring lanes store neighbouring results");
}
END_TEST

START_TEST(many_SMs_work) { ex_require_min_blocks(EX_MIN_BLOCKS); }
END_TEST

static void tests(TCase *correctness, TCase *goals, TCase *guards) {
    tcase_add_loop_test(correctness, matches_the_reference, 0, EX_COUNT(cases));
    tcase_add_test(goals, the_table_is_not_in_constant_memory);
    tcase_add_test(goals, lookups_are_served_at_once);
    tcase_add_test(guards, keys_are_in_constant_memory);
    tcase_add_test(guards, writes_are_coalesced);
    tcase_add_test(guards, many_SMs_work);
}

/* Timed with 64 MB in and 64 MB out. */
EXERCISE(lookup_table, .chapter = "08-constant-memory",
         .title = "A table with an index for each lane", .args = args, .nargs = EX_COUNT(args),
         .cases = cases, .ncases = EX_COUNT(cases),
         .draw = {.dim = {{1, 100000}},
                  .variants = {"random", "all equal", "a ramp", "indices of one bank"}},
         .technique_case = {{1 << 20}}, .timed_case = {{1 << 24}}, .reference = reference,
         .bytes = bytes, .flops = flops, .points = {.correctness = 0, .technique = 50, .speed = 50},
         .tests = tests, .baseline = "1-constant");
