/* particles_test.c — a chain of springs, an array of structures of sixteen floats; graded on
 * coalescing. */
#include "common/exercise_limits.h"

#include <stdlib.h>

enum { N, STEPS };
enum { PX, PY, VX, VY, MASS, FIELDS = 16 };

static size_t count(const struct ex_case *c) { return (size_t)c->dim[N] * FIELDS; }
static double dt(const struct ex_case *c, struct ex_rng *r) {
    (void)c, (void)r;
    return 0.1f;
}

static void fill(const struct ex_case *c, struct ex_rng *r, void *data, size_t count) {
    (void)c;
    for (size_t i = 0; i < count; i++)
        ((float *)data)[i] =
            (float)(i % FIELDS == MASS ? ex_uniform(r, 1, 2) : ex_uniform(r, -1, 1));
}

/* Returns the force from x at i - 1, i and i + 1; beyond both ends, x is 0. */
static double pull(const double *p, long n, long i, int field) {
    double left = i > 0 ? p[(i - 1) * FIELDS + field] : 0,
           right = i + 1 < n ? p[(i + 1) * FIELDS + field] : 0;
    return left - 2 * p[i * FIELDS + field] + right;
}

static void reference(const struct ex_case *c, void *const host[], void *const expected[]) {
    double *p = expected[0], step = *(float *)host[3];
    long n = c->dim[N];
    for (long s = 0; s < c->dim[STEPS]; s++) {
        for (long i = 0; i < n; i++) {
            p[i * FIELDS + VX] += step / p[i * FIELDS + MASS] * pull(p, n, i, PX);
            p[i * FIELDS + VY] += step / p[i * FIELDS + MASS] * pull(p, n, i, PY);
        }
        for (long i = 0; i < n; i++) {
            p[i * FIELDS + PX] += step * p[i * FIELDS + VX];
            p[i * FIELDS + PY] += step * p[i * FIELDS + VY];
        }
    }
}

/* A step rounds at most 8 times values of magnitude up to about 3. It propagates an error in v and
 * x by at most the map v' = v + 0.4 x, x' = x + 0.1 v', whose larger eigenvalue is 1.22. So each
 * step adds 8u * 3 and multiplies the error by at most 1.25. */
static double tolerance(const struct ex_case *c, void *const host[], int arg, size_t index,
                        double expected) {
    (void)host, (void)arg, (void)expected;
    if (index % FIELDS >= MASS) return 0;
    return 24 * EX_ROUNDOFF_F32 * c->dim[STEPS] * pow(1.25, (double)c->dim[STEPS]);
}

/* Five members in and four out: only the chip's memory limits how many steps one kernel can do. */
static double bytes(const struct ex_case *c) { return 4.0 * (5 + 4) * c->dim[N]; }
static double flops(const struct ex_case *c) { return 15.0 * c->dim[N] * c->dim[STEPS]; }

static const struct ex_arg args[] = {
    {.name = "state", .role = EX_INOUT, .type = EX_F32, .count = count, .fill = fill},
    {.name = "n", .role = EX_SCALAR, .type = EX_I32, .dim = N},
    {.name = "steps", .role = EX_SCALAR, .type = EX_I32, .dim = STEPS},
    {.name = "dt", .role = EX_SCALAR, .type = EX_F32, .value = dt},
};

static const struct ex_case cases[] = {
    {{0, 3}, .label = "no particles: nothing to launch"},
    {{7, 0}, .label = "no steps: the state stays"},
    {{1, 1}, .label = "one particle between two walls"},
    {{2, 3}, .label = "two particles"},
    {{31, 4}, .label = "one less than a warp"},
    {{33, 4}, .label = "one more than a warp"},
    {{257, 5}, .label = "one more than a block: neighbours in different blocks"},
    {{1009, 8}, .label = "a prime"},
};

START_TEST(matches_the_reference) { ex_check_case(&cases[_i]); }
END_TEST

static double particle_steps(void) {
    const struct ex_case *c = &ex_current_exercise()->technique_case;
    return (double)c->dim[N] * c->dim[STEPS];
}

/* The averages. 16 steps on separate arrays take 4 sectors a request, 5 for the neighbours that
 * start one float off. Once, data are converted from and to structures; a simple conversion is
 * strided, 32 sectors a request. In all, that is 1.2 to 1.4 times the ideal. Structures throughout
 * make 8 times, one field left in a structure more than 2.
 *
 * The totals, in sectors for each particle and step. Blocks that move whole structures through
 * shared memory are coalesced, too, but read 2 in each of two kernels: 4. Arrays take 10 requests
 * of 4 or 5 sectors in kick and 4 in drift: 1.8. Structures with a lane each take 13 requests of
 * 32: 13. Stores: 0.5 with arrays, 2 or more with whole structures, 4 with a lane each. */
START_TEST(reads_are_coalesced) {
    ex_require_packed_loads_on_average(
        1.5, "the x of 32 neighbouring particles are 128 bytes if they lie "
             "side by side, spread over 2048 if not");
    ex_require_at_most_per(
        "device_read_sectors", particle_steps(), "particle and step", 2.5,
        "whole structures can be read in one piece, but then 64 bytes move where 20 are needed");
}
END_TEST

START_TEST(writes_are_coalesced) {
    ex_require_packed_stores_on_average(
        1.5, "the vx of 32 neighbouring particles are 128 bytes if they lie side by side, "
             "spread over 2048 if not");
    ex_require_at_most_per(
        "device_write_sectors", particle_steps(), "particle and step", 1,
        "whole structures can be written in one piece, but then 64 bytes move where 16 "
        "have changed");
}
END_TEST

/* Ideas that separate the ladder's last steps from the model solution. */
static void ideas(void) {
    ex_suggest(ex_metric_value("global_store_sectors_per_request") > 5,
               "load and store the four members of a structure that lie side by side as one vector",
               "02-coalescing", "By hand: vector_loads");
    ex_suggest(true,
               "join kick and drift in one kernel a step, which writes the new positions to arrays "
               "of their own",
               "07-fusion", "Example: two steps to one");
}

static void tests(TCase *correctness, TCase *goals, TCase *guards) {
    tcase_add_loop_test(correctness, matches_the_reference, 0, EX_COUNT(cases));
    tcase_add_test(goals, reads_are_coalesced);
    tcase_add_test(goals, writes_are_coalesced);
    (void)guards; /* The baseline does nothing right that could be lost. */
}

EXERCISE(particles, .chapter = "02-coalescing",
         .title = "From an array of structures to a structure of arrays", .args = args,
         .nargs = EX_COUNT(args), .cases = cases, .ncases = EX_COUNT(cases),
         .draw = {.dim = {{1, 1500}, {1, 10}}}, .technique_case = {{8192, 16}},
         .timed_case = {{1 << 19, 16}}, .reference = reference, .tolerance = tolerance,
         .bytes = bytes, .flops = flops, .points = {.correctness = 0, .technique = 60, .speed = 40},
         .tests = tests, .ideas = ideas, .baseline = "1-structures");
