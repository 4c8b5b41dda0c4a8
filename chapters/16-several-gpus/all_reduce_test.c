/* all_reduce_test.c — the sum of four devices' vectors, on each of them; graded on links that
 * all work at the same time, and on additions that all devices share. */
#include "common/exercise_limits.h"

enum { DEVICES = 4 };

static size_t elements(const struct ex_case *c) { return (size_t)c->dim[0]; }

static void reference(const struct ex_case *c, void *const host[], void *const expected[]) {
    for (size_t i = 0; i < elements(c); i++) {
        double sum = 0;
        for (int d = 0; d < DEVICES; d++) sum += (double)((const float *)host[DEVICES + d])[i];
        for (int d = 0; d < DEVICES; d++) ((double *)expected[d])[i] = sum;
    }
}

/* Three additions, whose sums are at most 4, in any order. */
static double tolerance(const struct ex_case *c, void *const host[], int arg, size_t index,
                        double expected) {
    (void)c, (void)host, (void)arg, (void)index, (void)expected;
    return 3 * 4 * EX_ROUNDOFF_F32;
}

static double bytes(const struct ex_case *c) { return 8.0 * DEVICES * (double)elements(c); }

#define OUT(d) \
    { .name = "out" #d, .role = EX_OUT, .type = EX_F32, .count = elements, .device = d }
#define IN(d) \
    { .name = "in" #d, .role = EX_IN, .type = EX_F32, .count = elements, .device = d }
static const struct ex_arg args[] = {
    OUT(0), OUT(1), OUT(2),
    OUT(3), IN(0),  IN(1),
    IN(2),  IN(3),  {.name = "n", .role = EX_SCALAR, .type = EX_I32, .dim = 0},
};

static const struct ex_case cases[] = {
    {{0}, .label = "nothing to do"},
    {{1}, .label = "one element"},
    {{3}, .label = "fewer elements than devices"},
    {{4}, .label = "one element each"},
    {{257}, .label = "one past four warps each"},
    {{1000}, .label = "parts that aren't whole warps"},
    {{4096}, .label = "a power of two"},
    {{65537}, .label = "one past a power of two"},
    {{99991}, .label = "a prime number of elements"},
};

START_TEST(matches_the_reference) { ex_check_case(&cases[_i]); }
END_TEST

/* ---- at the technique size ---- */

static double vector_bytes(void) { return 4 * ex_element_count(0); }

/* Each device sends three quarters of a vector while the parts are added up, and as much again
 * while the sums are passed on: 1.5 vectors, which is the least for any order of the sends. */
START_TEST(all_links_work_at_the_same_time) {
    ex_require_at_most_per("peer_critical_path", vector_bytes(), "byte of a vector", 1.6,
                           "four devices can send and receive a quarter each at the same time");
}
END_TEST

/* Each of four devices does a quarter of the additions. */
START_TEST(all_devices_add) {
    ex_require_at_most_per("kernel_critical_path", ex_metric_value("inst_executed"),
                           "warp instruction", 0.3, "each device adds up a part of the vectors");
    ex_require_at_most_per("inst_executed", 3 * ex_element_count(0) / 32, "32 additions", 40,
                           "an addition takes two loads and a store");
}
END_TEST

START_TEST(no_vector_crosses_more_often_than_needed) {
    ex_require_at_most_per("peer_bytes", 2 * (DEVICES - 1) * vector_bytes(),
                           "byte that has to cross", 1.01,
                           "three partial sums and three copies of the sum cross");
    ex_require_at_most_per("peer_access_bytes", 2 * (DEVICES - 1) * vector_bytes(),
                           "byte that has to cross", 1.01,
                           "kernels that reach over the link move bytes, too");
}
END_TEST

START_TEST(accesses_are_coalesced) {
    ex_require_coalesced_loads(1.1, "elements lie one after another");
    ex_require_coalesced_stores(1.1, "elements lie one after another");
}
END_TEST

/* The ring reaches all goals, too, but its steps wait for each other. */
static void ideas(void) {
    ex_suggest(true, "send each part directly to the device that adds it up, not round a ring",
               "16-several-gpus", "Many devices: everybody sends");
}

static void tests(TCase *correctness, TCase *goals, TCase *guards) {
    tcase_add_loop_test(correctness, matches_the_reference, 0, EX_COUNT(cases));
    tcase_add_test(goals, all_links_work_at_the_same_time);
    tcase_add_test(goals, all_devices_add);
    tcase_add_test(guards, no_vector_crosses_more_often_than_needed);
    tcase_add_test(guards, accesses_are_coalesced);
}

EXERCISE(all_reduce, .chapter = "16-several-gpus", .title = "A sum on every device",
         .devices = DEVICES, .args = args, .nargs = EX_COUNT(args), .cases = cases,
         .ncases = EX_COUNT(cases), .draw = {.dim = {{1, 100000}}}, .technique_case = {{1 << 18}},
         .timed_case = {{1 << 22}}, .reference = reference, .tolerance = tolerance, .bytes = bytes,
         .points = {.correctness = 0, .technique = 60, .speed = 40}, .tests = tests, .ideas = ideas,
         .baseline = "1-device-0");
