/* kmeans_test.c — one iteration of k-means: nearest centroids, and the sums and counts of their
 * points; graded on the ladder's techniques, at points of which neighbours are alike. */
#include "common/exercise_limits.h"

enum { N, K };
enum { DIMENSIONS = 4, RUN = 64, UNIT = 256 /* units in 1 */ };
enum { ANYWHERE, NEIGHBOURS_ALIKE, EQUALLY_NEAR, ONE_CLUSTER }; /* variants */

static size_t centroids(const struct ex_case *c) { return (size_t)c->dim[K]; }
static size_t points(const struct ex_case *c) { return (size_t)c->dim[N]; }
static size_t coordinates(const struct ex_case *c) { return DIMENSIONS * points(c); }
static size_t sums(const struct ex_case *c) { return DIMENSIONS * centroids(c); }

static float in_units(long units) { return (float)units / UNIT; }

/* Four coordinates of 9 bits each. NEIGHBOURS_ALIKE: 64 points in a row differ by a few units, as
 * pixels of a picture do. */
static void fill_points(const struct ex_case *c, struct ex_rng *r, void *data, size_t count) {
    long middle[DIMENSIONS] = {0};
    for (size_t i = 0; i < count; i++) {
        size_t d = i % DIMENSIONS;
        if (i / DIMENSIONS % RUN == 0) middle[d] = ex_uniform_int(r, -UNIT + 4, UNIT - 4);
        long units = ex_uniform_int(r, -UNIT, UNIT - 1);
        if (c->variant == NEIGHBOURS_ALIKE) units = middle[d] + units % 4;
        if (c->variant == EQUALLY_NEAR) units = units / 128 * 128;
        if (c->variant == ONE_CLUSTER) units = units % 16;
        ((float *)data)[i] = in_units(units);
    }
}

/* EQUALLY_NEAR: few coordinates occur, so that points are in the middle of centroids, and
 * centroids are equal. ONE_CLUSTER: all but the last are far away. */
static void fill_centroids(const struct ex_case *c, struct ex_rng *r, void *data, size_t count) {
    for (size_t i = 0; i < count; i++) {
        long units = ex_uniform_int(r, -UNIT, UNIT - 1);
        if (c->variant == EQUALLY_NEAR) units = units / 64 * 64;
        if (c->variant == ONE_CLUSTER) units = i + DIMENSIONS < count ? 200 + units % 32 : 0;
        ((float *)data)[i] = in_units(units);
    }
}

static long nearest(const struct ex_case *c, const float *point, const float *centroid) {
    long best = 0;
    double minimum = INFINITY;
    for (long k = 0; k < c->dim[K]; k++) {
        double distance = 0;
        for (int d = 0; d < DIMENSIONS; d++) {
            double difference = (double)point[d] - centroid[DIMENSIONS * k + d];
            distance += difference * difference;
        }
        if (distance < minimum) minimum = distance, best = k;
    }
    return best;
}

static void reference(const struct ex_case *c, void *const host[], void *const expected[]) {
    int64_t *sum = expected[0], *count = expected[1];
    const float *point = host[2], *centroid = host[3];
    for (size_t i = 0; i < sums(c); i++) sum[i] = 0;
    for (size_t i = 0; i < centroids(c); i++) count[i] = 0;
    for (size_t i = 0; i < points(c); i++, point += DIMENSIONS) {
        long k = nearest(c, point, centroid);
        count[k]++;
        for (int d = 0; d < DIMENSIONS; d++) sum[DIMENSIONS * k + d] += (int64_t)(point[d] * UNIT);
    }
}

static double bytes(const struct ex_case *c) {
    return 4.0 * (double)(coordinates(c) + 2 * sums(c) + centroids(c));
}
/* By |c|² / 2 - p · c, which has the same order as the distance: a multiply-add for each
 * coordinate. */
static double flops(const struct ex_case *c) {
    return 2.0 * DIMENSIONS * (double)(points(c) * centroids(c));
}

static const struct ex_arg args[] = {
    {.name = "sum", .role = EX_OUT, .type = EX_I32, .count = sums},
    {.name = "count", .role = EX_OUT, .type = EX_I32, .count = centroids},
    {.name = "point", .role = EX_IN, .type = EX_F32, .count = coordinates, .fill = fill_points},
    {.name = "centroid", .role = EX_IN, .type = EX_F32, .count = sums, .fill = fill_centroids},
    {.name = "n", .role = EX_SCALAR, .type = EX_I32, .dim = N},
    {.name = "k", .role = EX_SCALAR, .type = EX_I32, .dim = K},
};

static const struct ex_case cases[] = {
    {{0, 5}, .label = "no points: all sums are 0"},
    {{1, 1}, .label = "one point, one centroid"},
    {{1, 64}, .label = "one point, 64 centroids"},
    {{31, 7}, .label = "one less than a warp"},
    {{33, 33}, NEIGHBOURS_ALIKE, "one more than a warp, both"},
    {{1000, 64}, EQUALLY_NEAR, "equal distances: the first centroid counts"},
    {{1023, 2}, ONE_CLUSTER, "all points in the last cluster"},
    {{10007, 31}, .label = "a prime number of points"},
    {{40000, 64}, NEIGHBOURS_ALIKE, "neighbours are alike"},
    {{65537, 5}, .label = "one more than a power of two"},
};

START_TEST(matches_the_reference) { ex_check_case(&cases[_i]); }
END_TEST

static double point_count(void) { return (double)points(&ex_current_exercise()->technique_case); }

/* Read word by word, the points of a warp take 4 loads of 16 sectors, of which 4 are needed. */
START_TEST(points_are_loaded_by_vectors) {
    ex_require_at_most_per("excessive_read_sectors", point_count() / 2, "sector of the points",
                           0.25,
                           "the four coordinates of a point are 16 bytes, one load of a lane");
}
END_TEST

/* A block of 640 points that fetches 32 centroids of 4 words: 0.2 a point. Centroids in constant
 * memory are as good as in shared memory, so reads of constants don't count. */
START_TEST(memory_is_read_once) {
    double constants = ex_metric_value("const_load_threads") / point_count();
    ex_require_at_most_per("device_read_accesses", point_count(), "point", 1.25 + constants,
                           "a point is read once, and the centroids once a block");
}
END_TEST

/* A block adds 32 sums of 4 words, and 32 counts, to the global ones: with 640 points and more it
 * is 0.25 a point. A label that goes to memory is 1. */
static void require_private_sums(void) {
    ex_require_at_most_per("device_write_accesses", point_count(), "point", 0.25,
                           "a block sums in shared memory and adds its sums to the global ones at "
                           "the end; no label goes to memory");
}

START_TEST(sums_are_privatized) { require_private_sums(); }
END_TEST

/* All lanes update one centroid: 32 serialized updates for each of 5 words. With 8 copies, selected
 * by lane, it is 4. Without private sums there is no contention in shared memory, so the test also
 * requires them. */
START_TEST(few_serialized_shared_atomics) {
    require_private_sums();
    ex_require_at_most_per("shared_atomic_serialized", point_count() / 32, "warp of points", 25,
                           "atomics on the same word are serialized, unless there are several "
                           "copies of it or lanes add up before");
}
END_TEST

START_TEST(few_instructions) {
    double pairs = point_count() / 32 * (double)centroids(&ex_current_exercise()->technique_case);
    ex_require_at_most_per("inst_executed", pairs, "centroid of a warp of points", 12,
                           "a centroid in registers serves several points, and its distance takes "
                           "four multiply-adds");
}
END_TEST

START_TEST(many_SMs_work) { ex_require_min_blocks(64); }
END_TEST

static void tests(TCase *correctness, TCase *goals, TCase *guards) {
    tcase_add_loop_test(correctness, matches_the_reference, 0, EX_COUNT(cases));
    tcase_add_test(goals, points_are_loaded_by_vectors);
    tcase_add_test(goals, memory_is_read_once);
    tcase_add_test(goals, sums_are_privatized);
    tcase_add_test(goals, few_serialized_shared_atomics);
    tcase_add_test(goals, few_instructions);
    tcase_add_test(guards, many_SMs_work);
}

/* Timed with 67 MB of points, so that the sums' flush takes a small part of the time. */
EXERCISE(kmeans, .chapter = "09-capstone", .title = "An iteration of k-means", .args = args,
         .nargs = EX_COUNT(args), .cases = cases, .ncases = EX_COUNT(cases),
         .draw = {.dim = {{1, 60000}, {1, 64}},
                  .max_product = 2600000,
                  .variants = {"", "neighbours are alike", "equal distances", "one cluster"}},
         .technique_case = {{1 << 18, 32}, NEIGHBOURS_ALIKE, NULL},
         .timed_case = {{1 << 22, 64}, NEIGHBOURS_ALIKE, NULL}, .reference = reference,
         .bytes = bytes, .flops = flops, .points = {.correctness = 0, .technique = 50, .speed = 50},
         .tests = tests, .baseline = "1-naive");
