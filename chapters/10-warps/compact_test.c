/* compact_test.c — stream compaction in order; graded on how lanes find their positions. */
#include "common/exercise_limits.h"

#include <string.h>

enum { HALF, NONE, ALL, RARE, FIRST, LAST, EXTREME }; /* variants: which elements are above 0 */

static size_t count(const struct ex_case *c) { return (size_t)c->dim[0]; }
static size_t one(const struct ex_case *c) {
    (void)c;
    return 1;
}

/* Draws an element above 0 or not, by variant; 0 itself is not. EXTREME: the largest and smallest
 * integers. */
static int32_t draw(const struct ex_case *c, struct ex_rng *r) {
    long low = c->variant == ALL ? 1 : -100,
         high = c->variant == HALF || c->variant == ALL ? 100 : 0;
    if (c->variant == EXTREME) return ex_random(r) & 1 ? INT32_MIN : INT32_MAX;
    if (c->variant == RARE && ex_uniform_int(r, 0, 99) == 0)
        return (int32_t)ex_uniform_int(r, 1, 100);
    return (int32_t)ex_uniform_int(r, low, high);
}

static void fill(const struct ex_case *c, struct ex_rng *r, void *data, size_t n) {
    int32_t *x = data;
    for (size_t i = 0; i < n; i++) x[i] = draw(c, r);
    if (n && c->variant == FIRST) x[0] = 7;
    if (n && c->variant == LAST) x[n - 1] = 7;
}

/* expected[0] starts as a copy of `out`; the elements behind the kept ones stay unchanged. */
static void reference(const struct ex_case *c, void *const host[], void *const expected[]) {
    const int32_t *in = host[2];
    int64_t *out = expected[0], *selected_count = expected[1], next = 0;
    for (long i = 0; i < c->dim[0]; i++)
        if (in[i] > 0) out[next++] = in[i];
    *selected_count = next;
}

/* Of the drawn values, 100 in 201 are kept; the share of a large problem is at least 0.49. */
static double bytes(const struct ex_case *c) { return 4 * count(c) * (1 + 0.49); }
static double flops(const struct ex_case *c) { return count(c); }

static const struct ex_arg args[] = {
    {.name = "out", .role = EX_INOUT, .type = EX_I32, .count = count},
    {.name = "count", .role = EX_OUT, .type = EX_I32, .count = one},
    {.name = "in", .role = EX_IN, .type = EX_I32, .count = count, .fill = fill},
    {.name = "n", .role = EX_SCALAR, .type = EX_I32, .dim = 0},
};

static const struct ex_case cases[] = {
    {{0}, .label = "no elements: the count is 0"},
    {{1}, ALL, "one element, kept"},
    {{1}, NONE, "one element, not kept"},
    {{31}, .label = "one less than a warp"},
    {{32}, ALL, "a warp, all kept"},
    {{33}, LAST, "one more than a warp, the last is kept"},
    {{255}, FIRST, "one less than a block, the first is kept"},
    {{257}, EXTREME, "one more than a block, the largest and smallest integers"},
    {{1023}, ALL, "all kept, one less than a power of two"},
    {{10007}, NONE, "none kept"},
    {{10007}, .label = "a prime"},
    {{65537}, RARE, "one of a hundred, one past a power of two"},
    {{300007}, .label = "more than a round a block, a prime"},
};

START_TEST(matches_the_reference) { ex_check_case(&cases[_i]); }
END_TEST

static double elements(void) { return count(&ex_current_exercise()->technique_case); }

/* Shared memory reads for 256 elements. One thread that walks over 256 flags makes 267, and the two
 * kernels together take 138 instructions for 32 elements. A scan in shared memory (8 rounds, two
 * reads a warp) makes 147. With votes, each warp writes a word, and each of 8 warps reads all words
 * in two vectors: 25, or 40 if the kept elements also go through a tile. With flags packed into
 * bytes, one thread needs few reads, too, so instructions are limited. Counting in global memory
 * instead would read or write there, which is also limited. */
static void require_short_count(void) {
    ex_require_at_most_per(
        "shared_read_requests_total", elements() / 256, "256 elements", 48,
        "a vote is a word with a bit for each lane, and its bits below a lane are those before it");
    ex_require_at_most_per(
        "inst_executed", elements() / 32, "warp of elements", 120,
        "what one thread does alone takes the warp as long as what all lanes do together");
}

START_TEST(positions_come_from_votes) {
    require_short_count();
    ex_require_at_most_per(
        "shuffles", elements() / 32, "warp of elements", 4,
        "one vote tells all lanes what a scan by shuffles takes five rounds for");
    ex_require_at_most_per(
        "device_read_sectors", elements() / 8, "sector of the input", 3,
        "the input is read twice, once to count and once to copy, and a table that all "
        "blocks read should be short");
    ex_require_at_most_per("device_write_accesses", elements(), "element", 0.75,
                           "a kept element is written once, the others never");
    ex_require_at_most_per("local_requests", elements() / 32, "warp of elements", 0.25,
                           "flags that a thread keeps in local memory go through L1 like others");
    ex_require_at_most_per("shared_atomic_operations", elements() / 32, "warp of elements", 1,
                           "one atomic a warp at most");
    ex_require_at_most_per("atomic_operations", elements() / 256, "256 elements", 1,
                           "a block updates memory once");
}
END_TEST

/* Two barriers in a round of 256 elements are 16 for 8 warps; one is 8. With several elements for
 * each thread, or a range for each warp, there are hardly any: 3 a launch. One thread that counts
 * alone needs few barriers, too, so the count must be short. Where it looks up places is the other
 * goal's concern: one fault costs one goal. */
START_TEST(few_barriers) {
    require_short_count();
    ex_require_at_most_per(
        "barriers", elements() / 256, "256 elements", 10,
        "a warp that knows where its part begins needs no other one to continue");
}
END_TEST

START_TEST(reads_are_coalesced) {
    ex_require_coalesced_loads(1.125, "neighbouring lanes look at neighbouring elements");
}
END_TEST

/* 16 of 32 lanes store adjacent words that start anywhere: 64 bytes in 2 or 3 sectors. */
START_TEST(writes_are_nearly_coalesced) {
    ex_require_coalesced_stores(
        2.5, "neighbouring lanes write neighbouring elements, if not from a sector's start");
}
END_TEST

START_TEST(many_SMs_work) { ex_require_min_blocks(EX_MIN_BLOCKS); }
END_TEST

/* The idea that separates versions which reach the goals from the model solution. */
static void ideas(void) {
    ex_suggest(
        true,
        "let a warp load 128 elements before its first vote, so that more bytes are in flight",
        "00-roofline", "Example: one element a thread, or several");
}

static void tests(TCase *correctness, TCase *goals, TCase *guards) {
    tcase_add_loop_test(correctness, matches_the_reference, 0, EX_COUNT(cases));
    tcase_add_test(goals, positions_come_from_votes);
    tcase_add_test(goals, few_barriers);
    tcase_add_test(guards, reads_are_coalesced);
    tcase_add_test(guards, writes_are_nearly_coalesced);
    tcase_add_test(guards, many_SMs_work);
}

/* The technique case gives each block several rounds. Timed with 64 MB, which is more than L2
 * holds. */
EXERCISE(compact, .chapter = "10-warps", .title = "Places by votes", .args = args,
         .nargs = EX_COUNT(args), .cases = cases, .ncases = EX_COUNT(cases),
         .draw = {.dim = {{1, 200000}},
                  .variants = {"half kept", "none kept", "all kept", "one of a hundred kept"}},
         .technique_case = {{1 << 20}}, .timed_case = {{1 << 24}}, .reference = reference,
         .bytes = bytes, .flops = flops, .points = {.correctness = 0, .technique = 50, .speed = 50},
         .tests = tests, .ideas = ideas, .baseline = "1-serial");
