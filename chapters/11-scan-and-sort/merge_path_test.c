/* merge_path_test.c — a stable merge of two sorted arrays; graded on how often items are read, how
 * they are written, and on the work for each. */
#include "common/exercise_limits.h"

enum { NA, NB };
/* Variants: keys of all 32 bits; few different keys; a single key; the smallest and the largest
 * key; all of a before all of b, and after; long runs of each in turn. */
enum { ANY, FEW, EQUAL, EXTREMES, A_FIRST, B_FIRST, RUNS };
enum { RUN = 1500 };

static size_t a_count(const struct ex_case *c) { return (size_t)c->dim[NA]; }
static size_t b_count(const struct ex_case *c) { return (size_t)c->dim[NB]; }
static size_t out_count(const struct ex_case *c) { return a_count(c) + b_count(c); }

/* Returns a sorted sequence's key at index i of n, given the one before. Steps of twice the average
 * at most leave it to chance whether the next item comes from a or from b. */
static uint64_t next_key(const struct ex_case *c, struct ex_rng *r, uint64_t before, size_t i,
                         size_t n, bool is_b) {
    uint64_t range = UINT32_MAX, start = 0;
    switch (c->variant) {
    case EQUAL: return 7;
    case EXTREMES: return i < n / 2 ? 0 : UINT32_MAX;
    case RUNS: return (i / RUN * 2 + is_b) * RUN + i % RUN;
    case FEW: range = out_count(c) / 16 + 1; break;
    case A_FIRST: range /= 2, start = is_b ? range + 1 : 0; break;
    case B_FIRST: range /= 2, start = is_b ? 0 : range + 1; break;
    default: break;
    }
    double step = ex_uniform(r, 0, 2) * (double)range / (double)n;
    uint64_t key = i ? before + (uint64_t)(step + ex_uniform(r, 0, 1)) : start;
    return key < start + range ? key : start + range;
}

static void fill(const struct ex_case *c, struct ex_rng *r, uint64_t *items, size_t n, bool is_b) {
    uint64_t key = 0;
    for (size_t i = 0; i < n; i++) {
        key = next_key(c, r, key, i, n, is_b);
        items[i] = key << 32 | (uint32_t)ex_random(r);
    }
}

static void fill_a(const struct ex_case *c, struct ex_rng *r, void *data, size_t n) {
    fill(c, r, data, n, false);
}
static void fill_b(const struct ex_case *c, struct ex_rng *r, void *data, size_t n) {
    fill(c, r, data, n, true);
}

static void reference(const struct ex_case *c, void *const host[], void *const expected[]) {
    const uint64_t *a = host[1], *b = host[2];
    int64_t *out = expected[0];
    size_t i = 0, j = 0, na = a_count(c), nb = b_count(c);
    while (i < na || j < nb)
        if (j == nb || (i < na && a[i] >> 32 <= b[j] >> 32)) *out++ = (int64_t)a[i++];
        else *out++ = (int64_t)b[j++];
}

static double bytes(const struct ex_case *c) { return 16.0 * (double)out_count(c); }
static double flops(const struct ex_case *c) { return (double)out_count(c); }

static const struct ex_arg args[] = {
    {.name = "out", .role = EX_OUT, .type = EX_U64, .count = out_count},
    {.name = "a", .role = EX_IN, .type = EX_U64, .count = a_count, .fill = fill_a},
    {.name = "b", .role = EX_IN, .type = EX_U64, .count = b_count, .fill = fill_b},
    {.name = "na", .role = EX_SCALAR, .type = EX_I32, .dim = NA},
    {.name = "nb", .role = EX_SCALAR, .type = EX_I32, .dim = NB},
};

static const struct ex_case cases[] = {
    {{0, 0}, .label = "no items"},
    {{1, 0}, .label = "one item, and b is empty"},
    {{0, 33}, .label = "a is empty"},
    {{1, 1}, EQUAL, "two equal keys"},
    {{31, 33}, .label = "one less and one more than a warp"},
    {{257, 255}, EQUAL, "one key in all"},
    {{1000, 1001}, EXTREMES, "the smallest and the largest key"},
    {{4097, 10007}, FEW, "few different keys"},
    {{3, 20011}, .label = "a is short"},
    {{20011, 5}, FEW, "b is short"},
    {{9000, 9001}, A_FIRST, "all of a before all of b"},
    {{9000, 9001}, B_FIRST, "all of b before all of a"},
    {{30000, 30011}, RUNS, "long runs of each in turn"},
    {{65537, 65535}, .label = "around a power of two"},
};

START_TEST(matches_the_reference) { ex_check_case(&cases[_i]); }
END_TEST

static double items(void) { return (double)out_count(&ex_current_exercise()->technique_case); }

/* A search of one item makes about 18 requests for 32 items, and its own load one; their first
 * steps read one sector each, the last ones eight. Pieces read side by side take one request of 8
 * sectors for 32 items. The two searches of a block of 2048 items add 2 * 2 * 18 requests to its
 * 64; they are chains of loads, so their sectors count as well: 72 for 512. */
START_TEST(items_are_read_once) {
    ex_require_at_most_per("device_read_sectors", items() / 4, "sector of the input", 1.3,
                           "a block reads its pieces of a and b once, side by side");
    ex_require_at_most_per("device_read_requests", items() / 32, "32 items", 3,
                           "one search serves a whole block");
}
END_TEST

/* 32 items of one array have gaps between them in out, which those of the other fill. */
START_TEST(writes_are_coalesced) {
    ex_require_at_most_per("device_write_sectors", items() / 4, "sector of the output", 1.125,
                           "merged items leave shared memory side by side");
}
END_TEST

/* A search in shared memory for each item takes 11 steps in a tile of 2048. One search for a run of
 * eight items and their merge take 11 / 8 + 1 reads of shared memory, and the way out another. */
START_TEST(threads_merge_runs) {
    ex_require_at_most_per("inst_executed", items() / 32, "32 items", 100,
                           "one search serves a thread's whole run");
    ex_require_at_most_per("shared_read_requests_total", items() / 32, "32 items", 7,
                           "after the search, each item takes one read and one comparison");
    ex_require_at_most_per("local_requests", items() / 32, "32 items", 0.25,
                           "merged items stay in registers: unroll the loop");
}
END_TEST

/* Walks through the pieces conflict as chance has it: 7 to 9 wavefronts for 32 items, if threads
 * have an odd number of items. With eight, they begin eight places apart: 13, and stores add 6. */
START_TEST(few_bank_conflicts) {
    ex_require_at_most_per("bank_conflicts", items() / 32, "32 items", 12,
                           "an odd number of items for each thread spreads them over all banks");
}
END_TEST

START_TEST(many_SMs_work) { ex_require_min_blocks(EX_MIN_BLOCKS); }
END_TEST

/* Ideas that separate the ladder's last step from the model solution. */
static void ideas(void) {
    ex_suggest(ex_launch_count() < 2,
               "find the cuts of all blocks in a kernel of their own, so that their chains of "
               "loads run side by side",
               "11-scan-and-sort", "By hand: merge_path");
}

static void tests(TCase *correctness, TCase *goals, TCase *guards) {
    tcase_add_loop_test(correctness, matches_the_reference, 0, EX_COUNT(cases));
    tcase_add_test(goals, items_are_read_once);
    tcase_add_test(goals, writes_are_coalesced);
    tcase_add_test(goals, threads_merge_runs);
    tcase_add_test(guards, few_bank_conflicts);
    tcase_add_test(guards, many_SMs_work);
}

/* The arrays have different lengths, so that a block's pieces have, too. Timed with 67 MB in and
 * 67 MB out, which is more than L2 holds. */
EXERCISE(merge_path, .chapter = "11-scan-and-sort", .title = "A merge in equal pieces",
         .args = args, .nargs = EX_COUNT(args), .cases = cases, .ncases = EX_COUNT(cases),
         .draw = {.dim = {{1, 100000}, {1, 100000}},
                  .variants = {"any keys", "few different keys", "one key in all",
                               "the smallest and the largest key", "all of a before all of b",
                               "all of b before all of a", "long runs of each in turn"}},
         .technique_case = {{3 << 17, 1 << 17}}, .timed_case = {{3 << 21, 1 << 21}},
         .reference = reference, .bytes = bytes, .flops = flops,
         .points = {.correctness = 0, .technique = 60, .speed = 40}, .tests = tests, .ideas = ideas,
         .baseline = "1-search");
