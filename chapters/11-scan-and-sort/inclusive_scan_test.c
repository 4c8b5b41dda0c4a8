/* inclusive_scan_test.c — an inclusive prefix sum; graded on how lanes, warps and blocks exchange
 * their sums. */
#include "common/exercise_limits.h"

#include <string.h>

enum { ANY, ONES, LARGEST, FIRST }; /* variants: what the elements are */

static size_t count(const struct ex_case *c) { return (size_t)c->dim[0]; }

/* ANY: all 32 bits are random, so that sums often wrap around. FIRST: all are 0 but the first,
 * which every sum contains. */
static void fill(const struct ex_case *c, struct ex_rng *r, void *data, size_t n) {
    uint32_t *x = data;
    for (size_t i = 0; i < n; i++)
        x[i] = c->variant == ANY       ? (uint32_t)ex_random(r)
               : c->variant == LARGEST ? UINT32_MAX
                                       : c->variant == ONES;
    if (n && c->variant == FIRST) x[0] = (uint32_t)ex_random(r) | 1;
}

static void reference(const struct ex_case *c, void *const host[], void *const expected[]) {
    const uint32_t *in = host[1];
    int64_t *out = expected[0];
    uint32_t sum = 0;
    for (long i = 0; i < c->dim[0]; i++) out[i] = sum += in[i];
}

static double bytes(const struct ex_case *c) { return 8.0 * count(c); }
static double flops(const struct ex_case *c) { return count(c); }

static const struct ex_arg args[] = {
    {.name = "out", .role = EX_OUT, .type = EX_U32, .count = count},
    {.name = "in", .role = EX_IN, .type = EX_U32, .count = count, .fill = fill},
    {.name = "n", .role = EX_SCALAR, .type = EX_I32, .dim = 0},
};

static const struct ex_case cases[] = {
    {{0}, .label = "no elements"},
    {{1}, .label = "one element"},
    {{31}, ONES, "one less than a warp, all 1"},
    {{33}, .label = "one more than a warp"},
    {{127}, .label = "one less than four a lane"},
    {{257}, FIRST, "one more than a block, 0 behind the first"},
    {{1024}, LARGEST, "four blocks, all 2^32 - 1"},
    {{1026}, .label = "no multiple of 4"},
    {{10007}, .label = "a prime"},
    {{65537}, FIRST, "one past a power of two, 0 behind the first"},
    {{262143}, ONES, "one less than a power of two, all 1"},
    {{300007}, .label = "more than a round a block, a prime"},
};

START_TEST(matches_the_reference) { ex_check_case(&cases[_i]); }
END_TEST

static double elements(void) { return count(&ex_current_exercise()->technique_case); }

/* Work that leaves shared memory must not return as local memory, atomics, or one lane that works
 * for 32. */
static void require_sums_in_registers(void) {
    ex_require_at_most_per("local_requests", elements() / 32, "warp of elements", 0.25,
                           "keep sums in registers: local memory goes through L1");
    ex_require_at_most_per("atomic_operations", elements() / 256, "256 elements", 1,
                           "a block updates memory once");
    ex_require_at_most_per("shared_atomic_operations", elements() / 32, "warp of elements", 1,
                           "one atomic a warp at most");
}

/* Hillis and Steele's scan with two buffers takes 8 rounds with a barrier after each, and two more
 * barriers: 80 for 8 warps. A round takes a load or two and a store, 27 a warp in all. Blelloch's
 * takes 18 rounds and 4 more barriers for 512 elements: 88 for 256. A scan by warps takes one
 * barrier for 8 warps, 8 in all, and for each warp a store and two loads of 8 words. If each thread
 * has several neighbouring elements that go through shared memory, as in CUB, it takes 4 accesses a
 * warp, and one for each warp of sums. */
START_TEST(lanes_scan_in_registers) {
    ex_require_at_most_per("barriers", elements() / 256, "256 elements", 16,
                           "lanes of one warp need no barrier of the block");
    ex_require_at_most_per("shared_requests_total", elements() / 32, "warp of elements", 6,
                           "lanes can hand sums to each other without memory");
    require_sums_in_registers();
}
END_TEST

START_TEST(results_are_written_once) {
    ex_require_at_most_per("device_write_sectors", elements() / 8, "sector of the output", 1.125,
                           "a block that knows the sum before it adds it before it stores");
    ex_require_at_most_per(
        "device_read_sectors", elements() / 8, "sector of the input", 2.25,
        "the input is read once for the totals and once for the scan, results never");
}
END_TEST

/* Instructions in the three kernels: Hillis and Steele 91, Blelloch 74, by warps 98, also if totals
 * come first. With four neighbouring elements for each lane: 23. */
START_TEST(each_lane_scans_several_elements) {
    ex_require_at_most_per("inst_executed", elements() / 32, "warp of elements", 56,
                           "a lane adds its own elements at an addition each; a shuffle step takes "
                           "ten instructions");
    require_sums_in_registers();
}
END_TEST

START_TEST(reads_are_coalesced) {
    ex_require_coalesced_loads(1.25, "neighbouring lanes look at neighbouring elements");
}
END_TEST

START_TEST(writes_are_coalesced) {
    ex_require_coalesced_stores(1.25, "neighbouring lanes write neighbouring elements");
}
END_TEST

START_TEST(many_SMs_work) { ex_require_min_blocks(EX_MIN_BLOCKS); }
END_TEST

/* Ideas of the ladder's last step. Two reads of the input take 1/16 of a request for each element
 * by words, 1/64 by vectors. The model solution's warps wait 1/4 of a barrier for each 32 elements,
 * all of it before their loops; a barrier in a loop adds as much or more. */
static void ideas(void) {
    ex_suggest(
        ex_metric_value("global_load_requests") > elements() / 32,
        "load four neighbouring elements as one vector, and several vectors before the first "
        "addition",
        "02-coalescing", "By hand: vector_loads");
    ex_suggest(ex_metric_value("barriers") > 0.4 * elements() / 32,
               "give each warp a stretch of its own, so that its loop needs no barrier",
               "11-scan-and-sort", "Levels, and passes over memory");
}

static void tests(TCase *correctness, TCase *goals, TCase *guards) {
    tcase_add_loop_test(correctness, matches_the_reference, 0, EX_COUNT(cases));
    tcase_add_test(goals, lanes_scan_in_registers);
    tcase_add_test(goals, results_are_written_once);
    tcase_add_test(goals, each_lane_scans_several_elements);
    tcase_add_test(guards, reads_are_coalesced);
    tcase_add_test(guards, writes_are_coalesced);
    tcase_add_test(guards, many_SMs_work);
}

/* The technique case gives each block several rounds. Timed with 64 MB in and 64 MB out, which is
 * more than L2 holds. */
EXERCISE(inclusive_scan, .chapter = "11-scan-and-sort", .title = "Sums by warps", .args = args,
         .nargs = EX_COUNT(args), .cases = cases, .ncases = EX_COUNT(cases),
         .draw = {.dim = {{1, 200000}}, .variants = {"any elements", "all 1"}},
         .technique_case = {{1 << 20}}, .timed_case = {{1 << 24}}, .reference = reference,
         .bytes = bytes, .flops = flops, .points = {.correctness = 0, .technique = 50, .speed = 50},
         .tests = tests, .ideas = ideas, .baseline = "1-hillis-steele");
