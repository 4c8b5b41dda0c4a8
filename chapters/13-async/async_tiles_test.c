/* async_tiles_test.c — cheapest paths through layered graphs; graded on the bytes in flight while a
 * block computes. */
#include "common/exercise_limits.h"

enum { WIDTH = 64, SOURCES = 8 };
static const int max_cost = 1000000;

static size_t graphs_of(const struct ex_case *c) { return (size_t)c->dim[0]; }
static size_t states(const struct ex_case *c) { return graphs_of(c) * SOURCES * WIDTH; }
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
    for (size_t s = 0; s < graphs_of(c) * SOURCES; s++) {
        int32_t best[2][WIDTH];
        for (int i = 0; i < WIDTH; i++) best[0][i] = from[s * WIDTH + i];
        for (long l = 0; l < c->dim[1]; l++)
            layer(best[(l + 1) % 2], best[l % 2],
                  costs + (s / SOURCES * (size_t)c->dim[1] + (size_t)l) * WIDTH * WIDTH);
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
    {{1, 7}, .label = "one graph"},
    {{17, 5}, .label = "a prime number of graphs", .variant = 1},
    {{2, 33}, .label = "many layers"},
};

START_TEST(matches_the_reference) { ex_check_case(&cases[_i]); }
END_TEST

static double graphs(void) { return (double)graphs_of(&ex_current_exercise()->technique_case); }
static double layers(void) { return graphs() * ex_current_exercise()->technique_case.dim[1]; }

/* A tile is 16 KB. With two tiles, the next one is in flight while the current one is used, for
 * nearly all of a layer's instructions. The limit is half a tile. */
START_TEST(the_next_layer_is_in_flight) {
    ex_require_at_least_per("async_copy_bytes_in_flight",
                            32 * ex_metric_value("blocks") / ex_metric_value("threads"), "block",
                            8192, "a copy that starts a layer early has arrived when it is needed");
}
END_TEST

/* These limits refuse what raises the bytes in flight without hiding latency: useless bytes,
 * useless instructions, and threads without work (a block's bytes are those of a warp times its
 * warps). A layer takes 8 warps of 64 steps, each with a load of the tile, half a load of `best`,
 * four operations and little more: 3100 instructions; libraries' pipelines add a half. With one
 * tile and 2300 useless instructions while it is in flight, it would count as 7 KB. */
START_TEST(no_redundant_work) {
    ex_require_at_most_per("device_read_sectors", ex_problem_sectors(), "sector of the problem",
                           1.01, "each cost is read once");
    ex_require_at_most_per("inst_executed", layers(), "layer of a graph", 5400,
                           "work that no result needs doesn't hide a copy");
    ex_require_at_most_per("threads", graphs(), "graph", 512,
                           "there are 512 results; threads without work don't hide a copy");
    ex_require_at_most_per("bank_conflicts", layers(), "layer of a graph", 64,
                           "lanes read neighbours of a row");
}
END_TEST

START_TEST(reads_are_coalesced) {
    ex_require_coalesced_loads(1.1, "rows of costs lie one after another");
}
END_TEST
START_TEST(every_graph_has_a_block) { ex_require_min_blocks(graphs()); }
END_TEST

/* Ideas that separate the ladder's last steps from the model solution. */
static void ideas(void) {
    ex_suggest(true, "add a third tile, so that a copy is in flight at every moment", "13-async",
               "By hand: async_tiles");
}

static void tests(TCase *correctness, TCase *goals, TCase *guards) {
    tcase_add_loop_test(correctness, matches_the_reference, 0, EX_COUNT(cases));
    tcase_add_test(goals, the_next_layer_is_in_flight);
    tcase_add_test(guards, no_redundant_work);
    tcase_add_test(guards, reads_are_coalesced);
    tcase_add_test(guards, every_graph_has_a_block);
}

/* Timed with 134 MB. */
EXERCISE(async_tiles, .chapter = "13-async", .title = "The next tile while this one is used",
         .args = args, .nargs = EX_COUNT(args), .cases = cases, .ncases = EX_COUNT(cases),
         .draw = {.dim = {{1, 40}, {1, 60}},
                  .max_product = 200,
                  .variants = {"", "the last node is cheap to leave"}},
         .technique_case = {{16, 12}}, .timed_case = {{128, 64}}, .reference = reference,
         .bytes = bytes, .points = {.correctness = 0, .technique = 70, .speed = 30}, .tests = tests,
         .ideas = ideas, .baseline = "2-one-buffer");
