/* graph_launch_test.c — power iteration with shifts, rounds of three small kernels; graded on the
 * commands that the host issues for a round. */
#include "common/exercise_limits.h"

#include <stdlib.h>

enum { N, ROUNDS };

static size_t numbers(const struct ex_case *c) { return (size_t)c->dim[N]; }
static size_t rounds(const struct ex_case *c) { return (size_t)c->dim[ROUNDS]; }

static void fill_vector(const struct ex_case *c, struct ex_rng *r, void *data, size_t count) {
    (void)c;
    for (size_t i = 0; i < count; i++) ((float *)data)[i] = (float)ex_uniform(r, 0.5, 1);
}

static void fill_shifts(const struct ex_case *c, struct ex_rng *r, void *data, size_t count) {
    (void)c;
    for (size_t i = 0; i < count; i++) ((float *)data)[i] = (float)ex_uniform(r, 0, 1);
}

/* Returns the largest result. */
static double multiply(double *y, const double *x, double shift, size_t n) {
    double largest = 0;
    for (size_t i = 0; i < n; i++) {
        double left = x[i ? i - 1 : 0], right = x[i + 1 < n ? i + 1 : i];
        y[i] = left / 4 + x[i] / 2 + right / 4 + shift * x[i];
        if (y[i] > largest) largest = y[i];
    }
    return largest;
}

static void reference(const struct ex_case *c, void *const host[], void *const expected[]) {
    double *x = expected[0], *largest = expected[1], *y = malloc(numbers(c) * sizeof *y);
    const float *shift = host[2];
    if (!y) abort();
    for (size_t k = 0; k < rounds(c); k++) {
        largest[k] = multiply(y, x, shift[k], numbers(c));
        for (size_t i = 0; i < numbers(c); i++) x[i] = y[i] / largest[k];
    }
    free(y);
}

/* All terms are positive, so no sum cancels, and relative errors add up: a product and three sums
 * for y, and a division; the largest element brings its own error in. That is at most 5 roundoffs
 * for y, and for x = y / largest another 5 + 1; twice as many are allowed. */
static double tolerance(const struct ex_case *c, void *const host[], int arg, size_t index,
                        double expected) {
    (void)host, (void)arg, (void)index;
    return 2.0 * 11 * (double)rounds(c) * EX_ROUNDOFF_F32 * expected;
}

/* A round reads x and writes y, reads y, reads y and writes x. */
static double bytes(const struct ex_case *c) {
    return 4.0 * ((double)rounds(c) * 5 * (double)numbers(c) + 2.0 * (double)rounds(c));
}
static double flops(const struct ex_case *c) { return 8.0 * (double)(numbers(c) * rounds(c)); }

static const struct ex_arg args[] = {
    {.name = "x", .role = EX_INOUT, .type = EX_F32, .count = numbers, .fill = fill_vector},
    {.name = "largest", .role = EX_OUT, .type = EX_F32, .count = rounds},
    {.name = "shift", .role = EX_IN, .type = EX_F32, .count = rounds, .fill = fill_shifts},
    {.name = "n", .role = EX_SCALAR, .type = EX_I32, .dim = N},
    {.name = "rounds", .role = EX_SCALAR, .type = EX_I32, .dim = ROUNDS},
};

static const struct ex_case cases[] = {
    {{100, 0}, .label = "no rounds: nothing to launch"},
    {{1, 1}, .label = "one number, one round"},
    {{1, 20}, .label = "one number: it is its own neighbour"},
    {{31, 2}, .label = "one less than a warp"},
    {{33, 7}, .label = "one more than a warp, an odd number of rounds"},
    {{255, 3}, .label = "one less than a block"},
    {{257, 16}, .label = "one more than a block"},
    {{4099, 5}, .label = "a prime number"},
    {{8192, 33}, .label = "a power of two"},
    {{2000, 101}, .label = "many rounds"},
};

START_TEST(matches_the_reference) { ex_check_case(&cases[_i]); }
END_TEST

static double technique_rounds(void) {
    return (double)rounds(&ex_current_exercise()->technique_case);
}

/* The baseline issues three launches for each round, and one fill. A graph of one round is one
 * command; setting up takes one to three. */
START_TEST(a_round_is_one_command) {
    ex_require_at_most_per("host_commands", technique_rounds(), "round", 1.25,
                           "a graph is launched by one call, whatever its nodes");
}
END_TEST

/* A round has two to four nodes. 50 rounds and 25 nodes allow graphs of six rounds and more. */
START_TEST(graphs_are_launched_again) {
    ex_require_at_most_per("instantiated_nodes", technique_rounds(), "round", 0.5,
                           "instantiation sets a graph's nodes up in advance, which pays if the "
                           "graph is launched again and again");
}
END_TEST

START_TEST(the_host_does_not_wait) {
    ex_require_at_most("synchronizing_calls", 0,
                       "while the host waits, it can't issue the next round");
}
END_TEST

/* A round's three kernels are as many blocks; one for all of n would leave the other SMs idle. A
 * grid that stays resident has at least one for each SM. */
START_TEST(many_SMs_work) { ex_require_min_blocks(EX_MIN_BLOCKS); }
END_TEST

/* For 4 sectors of a warp's numbers, x has loads of 5, 4 and 5 sectors, y two of 4; a shift and a
 * largest element are one each: 24. Three kernels may also load the round's number. */
START_TEST(vectors_are_read_a_few_times) {
    double sectors = technique_rounds() * ex_element_count(0) * 4 / 32;
    ex_require_at_most_per("device_read_sectors", sectors, "sector of x in a round", 8,
                           "a round reads x with its neighbours, and y twice");
}
END_TEST

static void tests(TCase *correctness, TCase *goals, TCase *guards) {
    tcase_add_loop_test(correctness, matches_the_reference, 0, EX_COUNT(cases));
    tcase_add_test(goals, a_round_is_one_command);
    tcase_add_test(guards, graphs_are_launched_again);
    tcase_add_test(guards, the_host_does_not_wait);
    tcase_add_test(guards, many_SMs_work);
    tcase_add_test(guards, vectors_are_read_a_few_times);
}

/* Timed with 32 768 numbers, of which a kernel does its work in less time than a launch takes. */
EXERCISE(graph_launch, .chapter = "13-async", .title = "Many small kernels as a graph",
         .args = args, .nargs = EX_COUNT(args), .cases = cases, .ncases = EX_COUNT(cases),
         .draw = {.dim = {{1, 8000}, {1, 100}}, .max_product = 300000},
         .technique_case = {{1 << 14, 50}}, .timed_case = {{1 << 15, 50}}, .reference = reference,
         .tolerance = tolerance, .bytes = bytes, .flops = flops,
         .points = {.correctness = 0, .technique = 100, .speed = 0}, .tests = tests,
         .baseline = "1-launches",
         .unscored_gain = "on a GPU, the replay launches the nodes of a graph one by one");
