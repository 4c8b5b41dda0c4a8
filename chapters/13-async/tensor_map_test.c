/* tensor_map_test.c — blurs the rows of an image and writes the transpose; graded on the requests
 * and instructions that bring a tile into shared memory. */
#include "common/exercise_limits.h"

enum { HEIGHT, WIDTH };
enum { RADIUS = 4 };

/* exp(-k^2 / 8), normalized. */
static const float weights[RADIUS + 1] = {0.2041632f, 0.1801738f, 0.1238315f, 0.0662825f,
                                          0.0276306f};

static size_t count(const struct ex_case *c) { return (size_t)(c->dim[HEIGHT] * c->dim[WIDTH]); }

static double blurred(const float *row, long width, long x) {
    double sum = 0;
    for (long k = -RADIUS; k <= RADIUS; k++)
        if (x + k >= 0 && x + k < width) sum += (double)weights[k < 0 ? -k : k] * row[x + k];
    return sum;
}

static void reference(const struct ex_case *c, void *const host[], void *const expected[]) {
    const float *in = host[1];
    double *out = expected[0];
    long height = c->dim[HEIGHT], width = c->dim[WIDTH];
    for (long y = 0; y < height; y++)
        for (long x = 0; x < width; x++) out[x * height + y] = blurred(in + y * width, width, x);
}

/* Nine products of elements below 1, in any order: each is rounded once and takes part in at most
 * eight additions. The weights add up to 1 (Higham, Accuracy and Stability, 4.2). */
static double tolerance(const struct ex_case *c, void *const host[], int arg, size_t index,
                        double expected) {
    (void)c, (void)host, (void)arg, (void)index, (void)expected;
    return 9 * EX_ROUNDOFF_F32;
}

static double bytes(const struct ex_case *c) { return 8.0 * count(c); }
/* A product and its addition for each weight. */
static double flops(const struct ex_case *c) { return 18.0 * count(c); }

static const struct ex_arg args[] = {
    {.name = "out",
     .role = EX_OUT,
     .type = EX_F32,
     .count = count,
     .shape = {WIDTH + 1, HEIGHT + 1}},
    {.name = "in", .role = EX_IN, .type = EX_F32, .count = count, .shape = {HEIGHT + 1, WIDTH + 1}},
    {.name = "height", .role = EX_SCALAR, .type = EX_I32, .dim = HEIGHT},
    {.name = "width", .role = EX_SCALAR, .type = EX_I32, .dim = WIDTH},
};

static const struct ex_case cases[] = {
    {{0, 8}, .label = "no rows"},
    {{5, 0}, .label = "empty rows"},
    {{1, 4}, .label = "one row of four"},
    {{3, 8}, .label = "rows shorter than the filter"},
    {{33, 32}, .label = "one more row than a warp has lanes"},
    {{64, 120}, .label = "120 columns"},
    {{65, 124}, .label = "one row past 64, one group past 120"},
    {{31, 28}, .label = "one row less than a warp"},
    {{127, 256}, .label = "a prime, a power of two"},
    {{8, 1000}, .label = "few long rows"},
    {{1000, 12}, .label = "many short rows"},
    {{257, 516}, .label = "one row and one group past powers of two"},
};

START_TEST(matches_the_reference) { ex_check_case(&cases[_i]); }
END_TEST

static double pixels(void) { return (double)count(&ex_current_exercise()->technique_case); }

/* Nine multiply-adds, a store and a test make at least 11 instructions for 32 results, and 4 more
 * for reading the tile. If threads bring the tile, they take about 15 for each 32 elements, and 8
 * requests for 1024 bytes. A box of 32 x 64 elements is one request for 8192 bytes; row by row, as
 * in bulk_rows, 512 bytes each, there would be 2 for 1024 bytes. */
START_TEST(a_tile_is_a_few_requests) {
    ex_require_at_most_per("device_read_requests", pixels() / 256, "1024 bytes", 0.3,
                           "a tensor map lets one thread request a box of many rows");
    ex_require_at_most_per("inst_executed", pixels() / 32, "32 pixels", 24,
                           "the copy unit computes the addresses and fills in the zeros");
}
END_TEST

/* A tile of 128 columns has 120 results or fewer. If a row of it is read in pieces of 128 bytes
 * that begin 4 columns before the first result, in the middle of a sector, each piece takes 5
 * sectors instead of 4: 1.25 * 128 / 120 = 1.33. In pieces that begin at a sector, with 112
 * results, it is 128 / 112 = 1.14; in one piece 1.13. */
START_TEST(each_sector_is_read_about_once) {
    ex_require_at_most_per("device_read_sectors", pixels() / 8, "sector of the image", 1.2,
                           "a wide tile has few columns that its neighbours read, too, and pieces "
                           "that begin at a sector share none");
    ex_require_at_most("local_requests", 0, "a window of nine elements fits into registers");
}
END_TEST

START_TEST(writes_are_coalesced) {
    ex_require_coalesced_stores(1.125, "neighbouring lanes write neighbours of the transpose");
}
END_TEST

START_TEST(no_bank_conflicts) {
    ex_require_at_most_per("bank_conflicts", pixels() / 32, "32 pixels", 0.05,
                           "lanes that read different rows find them in different banks");
}
END_TEST

START_TEST(many_SMs_work) { ex_require_min_blocks(EX_MIN_BLOCKS); }
END_TEST

/* If one block fills an SM's 227 KB, no box is in flight while it computes. */
static void ideas(void) {
    ex_suggest(
        ex_metric_value("shared_bytes") > 227 * 1024 / 2,
        "let several blocks fit on an SM, so that boxes of one arrive while another computes",
        "13-async", "A block that waits");
}

static void tests(TCase *correctness, TCase *goals, TCase *guards) {
    tcase_add_loop_test(correctness, matches_the_reference, 0, EX_COUNT(cases));
    tcase_add_test(goals, a_tile_is_a_few_requests);
    tcase_add_test(goals, each_sector_is_read_about_once);
    tcase_add_test(guards, writes_are_coalesced);
    tcase_add_test(guards, no_bank_conflicts);
    tcase_add_test(guards, many_SMs_work);
}

/* Timed with 67 MB in and 67 MB out, which is more than L2 holds. */
EXERCISE(tensor_map, .chapter = "13-async", .title = "A box in one request", .args = args,
         .nargs = EX_COUNT(args), .cases = cases, .ncases = EX_COUNT(cases),
         .draw = {.dim = {{1, 300}, {4, 600, .step = 4}}, .max_product = 100000},
         .technique_case = {{1024, 1200}}, .timed_case = {{4096, 4096}}, .reference = reference,
         .tolerance = tolerance, .bytes = bytes, .flops = flops,
         .points = {.correctness = 0, .technique = 60, .speed = 40}, .tests = tests, .ideas = ideas,
         .baseline = "1-checked-loads");
