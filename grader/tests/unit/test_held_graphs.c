/* test_held_graphs.c — tests the graphs that the server holds while grading: what a launch counts
 * as, what it executes, and what a client that cheats can't claim; and the waits that it counts. */
#include "grader/tests/unit/fake_host.h"
#include "grader/tests/unit/unit.h"

#include <string.h>

static struct fixture f;
static struct fake_host host = {.fixture = &f};

static void open_grading(void) {
    fixture_open(
        &f,
        (struct server_options){.grading = true, .max_recorded_bytes = 20000, .max_launches = 100},
        false);
}
static void close_all(void) { fixture_close(&f); }

static struct server_transfers measure(entry_fn *entry) {
    struct server_outcome o;
    struct recording *r = fake_host_record(&host, entry, &o);
    ck_assert_ptr_nonnull(r);
    struct server_transfers m = recording_transfers(f.server, r);
    recording_free(r);
    return m;
}

/* ---- messages ---- */

static uint64_t new_graph(void) {
    struct wb_rep_graph_create p;
    ck_assert_int_eq(REQUEST(&f, graph_create, (&(struct wb_req_graph_create){}), &p), 0);
    return p.graph;
}

static int describe(uint64_t graph, uint32_t node, uint32_t part, uint32_t op, const void *q,
                    size_t n) {
    struct wb_req_graph_node r = {.graph = graph, .node = node, .part = part, .op = op};
    return REQUEST_TAIL(&f, graph_node, &r, NULL, q, n);
}

/* A launch of "add" over n bytes at p, with its parameters. */
struct add_launch {
    struct wb_req_launch request;
    uint64_t p, n;
};
static struct add_launch add_bytes(uint64_t p, uint64_t n) {
    return (struct add_launch){{.kernel = host.add,
                                .grid_x = 1,
                                .grid_y = 1,
                                .grid_z = 1,
                                .block_x = 32,
                                .block_y = 1,
                                .block_z = 1},
                               p,
                               n};
}
static int describe_add(uint64_t graph, uint32_t node, uint64_t p, uint64_t n) {
    struct add_launch l = add_bytes(p, n);
    return describe(graph, node, 0, WB_OP_launch, &l, sizeof l);
}
static int describe_copy(uint64_t graph, uint32_t node, uint64_t to, uint64_t from) {
    struct wb_req_copy q = {to, 32, from, 32, 32, 1};
    return describe(graph, node, 0, WB_OP_copy, &q, sizeof q);
}

static int begin(uint64_t graph) {
    return REQUEST(&f, graph_launch, (&(struct wb_req_graph_launch){graph}), NULL);
}
static int run(uint64_t graph, uint32_t node) {
    return REQUEST(&f, graph_run, (&(struct wb_req_graph_run){graph, node, 0}), NULL);
}
static void launch(uint64_t graph, uint32_t nnodes) {
    ck_assert_int_eq(begin(graph), 0);
    for (uint32_t i = 0; i < nnodes; i++) ck_assert_int_eq(run(graph, i), 0);
}

/* ---- honest clients ---- */

static uint64_t kept_graph;

/* A fill; a graph of a copy, a host function and a kernel, launched twice; a kernel. out = in + 2.
 */
static void graph_entry(const struct wb_arg *args) {
    uint64_t in = args[0].value, out = args[1].value, g = new_graph();
    ck_assert_int_eq(REQUEST(&f, fill, (&(struct wb_req_fill){out, 32, 32, 1, 0, 0}), NULL), 0);
    ck_assert_int_eq(describe_copy(g, 0, out, in), 0);
    ck_assert_int_eq(describe(g, 1, 0, WB_GRAPH_NO_COMMAND, NULL, 0), 0);
    ck_assert_int_eq(describe_add(g, 2, out, 32), 0);
    launch(g, 3);
    launch(g, 3);
    ck_assert_int_eq(fixture_launch(&f, host.add, 32, out, 32), 0);
    kept_graph = g;
}

START_TEST(the_launch_of_a_graph_is_one_command) {
    struct server_outcome o;
    char out[33] = {0};
    struct recording *r = fake_host_record(&host, graph_entry, &o);
    ck_assert_ptr_nonnull(r);
    struct server_transfers m = recording_transfers(f.server, r);
    ck_assert_uint_eq(m.host_commands, 1 + 2 + 1);
    ck_assert_uint_eq(m.instantiated_nodes, 3);
    ck_assert_uint_eq(m.copies, 2);
    ck_assert_uint_eq(recording_launches(r), 3);
    fake_host_replay(&host, r, "0123456701234567012345670123456-", out);
    ck_assert_str_eq(out, "2345678923456789234567892345678/");
    recording_free(r);
}
END_TEST

static void kept_entry(const struct wb_arg *args) {
    (void)args;
    launch(kept_graph, 3);
    launch(kept_graph, 3);
}

START_TEST(a_graph_of_an_earlier_call_counts_as_instantiated_again) {
    struct server_outcome o;
    recording_free(fake_host_record(&host, graph_entry, &o));
    struct recording *r = fake_host_record_again(&host, kept_entry, &o);
    ck_assert_ptr_nonnull(r);
    ck_assert_uint_eq(recording_transfers(f.server, r).instantiated_nodes, 3);
    ck_assert_uint_eq(recording_transfers(f.server, r).host_commands, 2);
    recording_free(r);
}
END_TEST

/* A node of two copies, then of one other command; the third launch leaves it out. */
static void changing_entry(const struct wb_arg *args) {
    uint64_t in = args[0].value, out = args[1].value, g = new_graph();
    struct wb_req_copy half = {out + 16, 16, in + 16, 16, 16, 1};
    ck_assert_int_eq(describe_copy(g, 0, out, in), 0);
    ck_assert_int_eq(describe(g, 0, 1, WB_OP_copy, &half, sizeof half), 0);
    ck_assert_int_eq(describe_add(g, 1, out, 32), 0);
    launch(g, 2);
    ck_assert_int_eq(describe_add(g, 0, out, 31), 0);
    launch(g, 2);
    ck_assert_int_eq(begin(g), 0);
    ck_assert_int_eq(run(g, 1), 0);
}

START_TEST(the_commands_of_a_node_can_change) {
    struct server_outcome o;
    char out[33] = {0};
    struct recording *r = fake_host_record(&host, changing_entry, &o);
    ck_assert_ptr_nonnull(r);
    struct server_transfers m = recording_transfers(f.server, r);
    ck_assert_uint_eq(m.host_commands, 3);
    ck_assert_uint_eq(m.instantiated_nodes, 2);
    ck_assert_uint_eq(m.copies, 2);
    fake_host_replay(&host, r, "0000000000000000000000000000000-", out);
    ck_assert_str_eq(out, "44444444444444444444444444444440");
    recording_free(r);
}
END_TEST

static int write_bytes(uint64_t to, uint64_t n) {
    return REQUEST(&f, write, (&(struct wb_req_write){to, n, n, 1, 0}), NULL);
}

/* A copy from host memory, whose data comes in two pieces, and a copy that only claims to be it. */
static void writing_entry(const struct wb_arg *args) {
    (void)args;
    uint64_t t = fixture_alloc(&f, 64), g = new_graph();
    struct wb_req_write q = {t, 32, 32, 1, 0};
    ck_assert_int_eq(describe(g, 0, 0, WB_OP_write, &q, sizeof q), 0);
    launch(g, 1);
    ck_assert_int_eq(write_bytes(t, 16), 0);
    ck_assert_int_eq(write_bytes(t + 16, 16), 0);
    ck_assert_int_eq(write_bytes(t, 1), 0); /* beyond its bytes */
    launch(g, 1);
    ck_assert_int_eq(write_bytes(t + 1, 32), 0);  /* beyond its end */
    ck_assert_int_eq(write_bytes(t + 32, 32), 0); /* elsewhere */
}

START_TEST(copies_from_host_memory_belong_to_their_node) {
    struct server_transfers m = measure(writing_entry);
    ck_assert_uint_eq(m.host_commands, 2 + 3);
    ck_assert_uint_eq(m.instantiated_nodes, 1);
}
END_TEST

/* ---- clients that cheat ---- */

static void replaying_entry(const struct wb_arg *args) {
    uint64_t out = args[1].value, g = new_graph();
    ck_assert_int_eq(describe_add(g, 0, out, 32), 0);
    ck_assert_int_eq(describe_add(g, 1, out, 32), 0);
    ck_assert_int_ne(run(g, 0), 0); /* no launch */
    ck_assert_int_eq(begin(g), 0);
    ck_assert_int_eq(run(g, 1), 0);
    ck_assert_int_ne(run(g, 1), 0); /* twice */
    ck_assert_int_ne(run(g, 0), 0); /* backwards */
    ck_assert_int_ne(run(g, 2), 0); /* no such node */
}

START_TEST(a_launch_runs_each_node_once) {
    struct server_transfers m = measure(replaying_entry);
    ck_assert_uint_eq(m.host_commands, 1);
    ck_assert_uint_eq(m.instantiated_nodes, 2);
}
END_TEST

/* Launches between the nodes of a graph are the host's own. */
static void hiding_entry(const struct wb_arg *args) {
    uint64_t in = args[0].value, out = args[1].value, g = new_graph();
    ck_assert_int_eq(describe_add(g, 0, out, 32), 0);
    ck_assert_int_eq(describe(g, 1, 0, WB_GRAPH_NO_COMMAND, NULL, 0), 0);
    ck_assert_int_eq(begin(g), 0);
    for (int i = 0; i < 3; i++) {
        ck_assert_int_eq(fixture_launch(&f, host.add, 32, out, 32), 0);
        ck_assert_int_eq(REQUEST(&f, copy, (&(struct wb_req_copy){out, 32, in, 32, 32, 1}), NULL),
                         0);
        if (i < 2) ck_assert_int_eq(run(g, (uint32_t)i), 0);
    }
}

START_TEST(commands_between_nodes_are_the_hosts_own) {
    ck_assert_uint_eq(measure(hiding_entry).host_commands, 1 + 3 * 2);
}
END_TEST

static void malformed_entry(const struct wb_arg *args) {
    uint64_t out = args[1].value, g = new_graph(), destroyed = new_graph();
    struct wb_req_alloc alloc = {32, 0, 0};
    struct add_launch l = add_bytes(out, 32);
    ck_assert_int_eq(REQUEST(&f, graph_destroy, (&(struct wb_req_graph_destroy){destroyed}), NULL),
                     0);
    ck_assert_int_ne(REQUEST(&f, graph_destroy, (&(struct wb_req_graph_destroy){destroyed}), NULL),
                     0);
    uint64_t wrong[] = {0, destroyed, 77, UINT64_MAX};
    for (int i = 0; i < 4; i++) {
        ck_assert_int_ne(describe_add(wrong[i], 0, out, 32), 0);
        ck_assert_int_ne(begin(wrong[i]), 0);
        ck_assert_int_ne(run(wrong[i], 0), 0);
    }
    ck_assert_int_ne(describe_add(g, 1, out, 32), 0); /* node 0 comes first */
    ck_assert_int_ne(describe(g, 0, 0, WB_OP_alloc, &alloc, sizeof alloc), 0);
    ck_assert_int_ne(describe(g, 0, 0, WB_OP_launch, &l, 8), 0);
    ck_assert_int_ne(describe(g, 0, 1, WB_OP_launch, &l, sizeof l), 0); /* part 0 comes first */
    ck_assert_int_eq(describe_add(g, 0, out + 4096, 32), 0);
    ck_assert_int_eq(describe(g, 1, 0, WB_OP_launch, &l, sizeof l - 8), 0);
    ck_assert_int_eq(begin(g), 0);
    ck_assert_int_ne(run(g, 1), 0); /* its parameters are short */
}

START_TEST(malformed_graphs_are_refused) {
    struct server_transfers m = measure(malformed_entry);
    ck_assert_uint_eq(m.host_commands, 1);
    ck_assert_uint_eq(m.instantiated_nodes, 2);
}
END_TEST

static void endless_entry(const struct wb_arg *args) {
    uint64_t g = new_graph();
    for (uint32_t i = 0; describe_add(g, i, args[1].value, 32) == 0; i++) {}
}
static void endless_launches_entry(const struct wb_arg *args) {
    uint64_t g = new_graph();
    ck_assert_int_eq(describe_add(g, 0, args[1].value, 32), 0);
    while (begin(g) == 0 && run(g, 0) == 0) {}
}

START_TEST(graphs_beyond_the_limits_end_the_call) {
    struct server_outcome o;
    ck_assert_ptr_null(fake_host_record(&host, _i ? endless_entry : endless_launches_entry, &o));
    ck_assert_int_eq(o.end_reason, SERVER_LIMIT);
}
END_TEST

/* ---- the order of a graph's nodes ---- */

static void order(uint32_t stream, uint32_t number, uint32_t host_number) {
    uint32_t clocks[2][WB_MAX_STREAMS] = {{0}, {0}};
    clocks[0][stream] = number, clocks[1][stream] = host_number;
    struct wb_req_order q = {.stream = stream, .number = number, .is_node = 1};
    ck_assert_int_eq(REQUEST_TAIL(&f, order, &q, NULL, clocks, sizeof clocks), 0);
}

/* Four kernels that share an order, as the nodes of a chain do. */
static void unordered_chain_entry(const struct wb_arg *args) {
    uint64_t out = args[1].value, g = new_graph();
    for (uint32_t i = 0; i < 4; i++) ck_assert_int_eq(describe_add(g, i, out, 32), 0);
    launch(g, 4);
}
static void chain_entry(const struct wb_arg *args) {
    order(0, 1, 0);
    unordered_chain_entry(args);
}
static void forged_chain_entry(const struct wb_arg *args) {
    order(0, 1, 0);
    for (uint32_t i = 0; i < 4; i++)
        ck_assert_int_eq(fixture_launch(&f, host.add, 32, args[1].value, 32), 0);
}

static bool is_scheduled(entry_fn *entry) {
    struct server_outcome o;
    struct server_schedule schedule;
    struct server_launch_time times[4] = {{.device_share = 1}};
    struct recording *r = fake_host_record(&host, entry, &o);
    ck_assert_ptr_nonnull(r);
    bool is = recording_schedule(f.server, r, times, 4, &schedule);
    recording_free(r);
    return is;
}

/* In one stream, times only differ from a sum if a graph's kernels start sooner. */
START_TEST(only_nodes_of_a_held_graph_start_sooner) {
    static const struct {
        entry_fn *entry;
        bool is_graph;
    } entries[] = {{chain_entry, true}, {unordered_chain_entry, true}, {forged_chain_entry, false}};
    ck_assert_int_eq(is_scheduled(entries[_i].entry), entries[_i].is_graph);
}
END_TEST

/* ---- waits ---- */

static void host_wait(void) {
    ck_assert_int_eq(REQUEST(&f, host_wait, (&(struct wb_req_host_wait){}), NULL), 0);
}

/* Three waits: one is reported before the order that shows it, one is only reported, one only shows
 * in an order. A copy that blocks the host is no wait, nor is an order that shows nothing new. */
static void waiting_entry(const struct wb_arg *args) {
    (void)args;
    uint64_t t = fixture_alloc(&f, 64); /* the fourth */
    order(2, 1, 0);
    host_wait();
    order(2, 2, 1);
    host_wait();
    order(2, 3, 1);
    order(2, 4, 3);
    order(2, 5, 3);
    ck_assert_int_eq(write_bytes(t, 8), 0);
    order(2, 6, 5);
}

START_TEST(waits_of_the_host_are_counted) {
    ck_assert_uint_eq(measure(waiting_entry).synchronizing_calls, 1 + 3);
}
END_TEST

UNIT_SUITE(held_graphs) {
    Suite *suite = suite_create("held_graphs");
    TCase *t = tcase_create("grading");
    tcase_add_checked_fixture(t, open_grading, close_all);
    tcase_add_test(t, the_launch_of_a_graph_is_one_command);
    tcase_add_test(t, a_graph_of_an_earlier_call_counts_as_instantiated_again);
    tcase_add_test(t, the_commands_of_a_node_can_change);
    tcase_add_test(t, copies_from_host_memory_belong_to_their_node);
    tcase_add_test(t, a_launch_runs_each_node_once);
    tcase_add_test(t, commands_between_nodes_are_the_hosts_own);
    tcase_add_test(t, malformed_graphs_are_refused);
    tcase_add_loop_test(t, graphs_beyond_the_limits_end_the_call, 0, 2);
    tcase_add_loop_test(t, only_nodes_of_a_held_graph_start_sooner, 0, 3);
    tcase_add_test(t, waits_of_the_host_are_counted);
    suite_add_tcase(suite, t);
    return suite;
}
