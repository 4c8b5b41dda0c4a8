/* stages_test.c — cheapest paths through graphs with narrow layers; graded on the bytes in
 * flight. */
#include "common/exercise_limits.h"

enum { WIDTH = 32 };
static const int max_cost = 1000000;

static size_t graphs_of(const struct ex_case *c) { return (size_t)c->dim[0]; }
static size_t states(const struct ex_case *c) { return graphs_of(c) * WIDTH; }
static size_t costs_of(const struct ex_case *c) {
    return graphs_of(c) * (size_t)c->dim[1] * WIDTH * WIDTH;
}

static void fill_costs(const struct ex_case *c, struct ex_rng *r, void *data, size_t n) {
    int32_t *cost = data;
    for (size_t i = 0; i < n; i += 2) {
        uint64_t drawn = ex_random(r); /* makes two elements, as there are many */
        cost[i] = (int32_t)((drawn >> 32) % (uint64_t)(max_cost + 1));
        if (i + 1 < n) cost[i + 1] = (int32_t)((drawn & 0xffffffff) % (uint64_t)(max_cost + 1));
    }
    /* Variant 1: the edges of one node in each layer are cheap, starting with the last rows, so
     * that using a tile before it has arrived gives a wrong result. */
    for (size_t l = 0; c->variant == 1 && l + WIDTH * WIDTH <= n; l += WIDTH * WIDTH)
        for (size_t j = 0; j < WIDTH; j++) cost[l + (size_t)(WIDTH - 1) * WIDTH + j] /= 64;
}

static void layer(int32_t *next, const int32_t *best, const int32_t *cost) {
    for (int j = 0; j < WIDTH; j++) next[j] = INT32_MAX;
    for (int i = 0; i < WIDTH; i++)
        for (int j = 0; j < WIDTH; j++) {
            int32_t path_cost = best[i] + cost[i * WIDTH + j];
            next[j] = path_cost < next[j] ? path_cost : next[j];
        }
}

static void reference(const struct ex_case *c, void *const host[], void *const expected[]) {
    int64_t *out = expected[0];
    const int32_t *from = host[1], *costs = host[2];
    for (size_t s = 0; s < graphs_of(c); s++) {
        int32_t best[2][WIDTH];
        for (int i = 0; i < WIDTH; i++) best[0][i] = from[s * WIDTH + i];
        for (long l = 0; l < c->dim[1]; l++)
            layer(best[(l + 1) % 2], best[l % 2],
                  costs + (s * (size_t)c->dim[1] + (size_t)l) * WIDTH * WIDTH);
        for (int i = 0; i < WIDTH; i++) out[s * WIDTH + i] = best[c->dim[1] % 2][i];
    }
}

static double bytes(const struct ex_case *c) { return 4.0 * (costs_of(c) + 2 * states(c)); }

static const struct ex_arg args[] = {
    {.name = "out", .role = EX_OUT, .type = EX_I32, .count = states},
    {.name = "from", .role = EX_IN, .type = EX_I32, .count = states, .fill = fill_costs},
    {.name = "costs", .role = EX_IN, .type = EX_I32, .count = costs_of, .fill = fill_costs},
    {.name = "graphs", .role = EX_SCALAR, .type = EX_I32, .dim = 0},
    {.name = "layers", .role = EX_SCALAR, .type = EX_I32, .dim = 1},
};

static const struct ex_case cases[] = {
    {{0, 5}, .label = "no graphs: nothing to launch"},
    {{3, 0}, .label = "no layers: out is from"},
    {{1, 1}, .label = "one layer"},
    {{2, 2}, .label = "two layers"},
    {{3, 3}, .label = "three layers"},
    {{5, 4}, .label = "four layers", .variant = 1},
    {{1, 7}, .label = "one less than eight layers"},
    {{4, 8}, .label = "eight layers", .variant = 1},
    {{2, 9}, .label = "one more than eight"},
    {{17, 16}, .label = "a prime number of graphs", .variant = 1},
    {{2, 131}, .label = "many layers"},
};

START_TEST(matches_the_reference) { ex_check_case(&cases[_i]); }
END_TEST

static double graphs(void) { return (double)graphs_of(&ex_current_exercise()->technique_case); }
static double layers(void) { return graphs() * ex_current_exercise()->technique_case.dim[1]; }

/* Little's law: an H200's DRAM delivers 4350 GB/s after 660 cycles at 1.98 GHz, 333 ns. That is
 * 1.45 MB in flight on 132 SMs, 11 KB on each, and more under load, when the latency is higher. A
 * layer is 4 KB, so one layer ahead is not enough, and neither are three. */
START_TEST(enough_bytes_in_flight) {
    ex_require_at_least_per("async_copy_bytes_in_flight",
                            32 * ex_metric_value("blocks") / ex_metric_value("threads"), "block",
                            16384, "bandwidth times latency is what must be in flight");
}
END_TEST

/* These limits refuse what raises the bytes in flight without hiding latency: useless bytes,
 * useless instructions, and threads without work (a block's bytes are those of a warp times its
 * warps). */
START_TEST(no_redundant_work) {
    ex_require_at_most_per("device_read_sectors", ex_problem_sectors(), "sector of the problem",
                           1.01, "each cost is read once");
    ex_require_at_most_per("inst_executed", layers(), "layer of a graph", 800,
                           "idle work beside a copy hides nothing");
    ex_require_at_most_per("threads", graphs(), "graph", 256,
                           "threads without work don't hide a copy");
    ex_require_at_most_per("bank_conflicts", layers(), "layer of a graph", 16,
                           "lanes read neighbours of a row");
}
END_TEST

START_TEST(reads_are_coalesced) {
    ex_require_coalesced_loads(1.1, "rows of costs lie one after another");
}
END_TEST
START_TEST(every_graph_has_a_block) { ex_require_min_blocks(graphs()); }
END_TEST

/* The idea of the model solution, which has 26 KB in flight; the goal requires 16 KB. */
static void ideas(void) {
    ex_suggest(ex_metric_value("async_copy_bytes_in_flight") * 32 * ex_metric_value("blocks") <
                   22528 * ex_metric_value("threads"),
               "request seven layers ahead, in a ring of eight tiles", "13-async",
               "How much must be in flight");
}

static void tests(TCase *correctness, TCase *goals, TCase *guards) {
    tcase_add_loop_test(correctness, matches_the_reference, 0, EX_COUNT(cases));
    tcase_add_test(goals, enough_bytes_in_flight);
    tcase_add_test(guards, no_redundant_work);
    tcase_add_test(guards, reads_are_coalesced);
    tcase_add_test(guards, every_graph_has_a_block);
}

/* Timed with 134 MB. */
EXERCISE(stages, .chapter = "13-async", .title = "A ring of several stages", .args = args,
         .nargs = EX_COUNT(args), .cases = cases, .ncases = EX_COUNT(cases),
         .draw = {.dim = {{1, 60}, {1, 200}},
                  .max_product = 800,
                  .variants = {"", "the last node is cheap to leave"}},
         .technique_case = {{16, 96}}, .timed_case = {{128, 256}}, .reference = reference,
         .bytes = bytes, .points = {.correctness = 0, .technique = 60, .speed = 40}, .tests = tests,
         .ideas = ideas, .baseline = "1-one-ahead");
