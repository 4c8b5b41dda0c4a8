/* test_timeline.c — tests the commands of several streams: what overlaps, what waits, and how
 * long it takes. All times are in seconds of a device whose bus moves one byte a second in each
 * direction, and 1.5 in both together. */
#include "grader/server/launch_stats.h"
#include "grader/sim/timing/timeline.h"
#include "grader/tests/unit/unit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_COMMANDS = 32 };
static const struct timeline_rates unit_rates = {.h2d = 1, .d2h = 1, .bidirectional = 1.5};
static struct timeline_command c[MAX_COMMANDS];
static uint32_t after[MAX_COMMANDS][TIMELINE_MAX_STREAMS], done[MAX_COMMANDS][TIMELINE_MAX_STREAMS],
    last[TIMELINE_MAX_STREAMS];
static unsigned n;

static void begin(void) {
    memset(after, 0, sizeof after), memset(done, 0, sizeof done), memset(last, 0, sizeof last);
    n = 0;
}

static unsigned add(enum timeline_engine e, uint32_t stream, double size) {
    c[n] = (struct timeline_command){
        .engine = e, .stream = stream, .number = ++last[stream], .device_share = 1};
    c[n].after = after[n], c[n].host_done = done[n];
    if (e == TIMELINE_KERNEL) c[n].seconds = size;
    else c[n].bytes = size;
    return n++;
}

/* Command `i` depends on all commands in stream `s` so far. */
static void add_dependency(unsigned i, uint32_t s) { after[i][s] = last[s]; }
static void add_host_wait(unsigned i, uint32_t s) { done[i][s] = last[s]; }

static double run(const struct timeline_rates *r) { return time_timeline_run(c, n, r).seconds; }

#define ck_seconds(x, y) ck_assert_double_eq_tol(x, y, 1e-9)

START_TEST(commands_of_one_stream_run_serially) {
    begin();
    add(TIMELINE_H2D, 0, 4), add(TIMELINE_KERNEL, 0, 2), add(TIMELINE_D2H, 0, 4);
    ck_seconds(run(&unit_rates), 10);
    ck_seconds(c[1].begin, 4);
    ck_seconds(c[2].end, 10);
}
END_TEST

/* 4 in; then 4 in beside 4 out, at three quarters of the rate; then 4 out. */
START_TEST(copies_in_both_directions_share_the_bus) {
    begin();
    for (uint32_t k = 0; k < 2; k++) add(TIMELINE_H2D, k, 4), add(TIMELINE_D2H, k, 4);
    struct timeline_total t = time_timeline_run(c, n, &unit_rates);
    ck_seconds(t.seconds, 4 + 4 / 0.75 + 4);
    ck_seconds(t.engine_busy[TIMELINE_H2D], 4 + 4 / 0.75);
    ck_seconds(t.engine_busy[TIMELINE_D2H], 4 / 0.75 + 4);
    ck_seconds(t.engine_busy[TIMELINE_KERNEL], 0);
}
END_TEST

START_TEST(copies_in_one_direction_run_serially) {
    begin();
    add(TIMELINE_H2D, 0, 3), add(TIMELINE_H2D, 1, 5);
    ck_seconds(run(&unit_rates), 8);
    ck_seconds(c[1].begin, 3); /* in the order of the calls */
}
END_TEST

START_TEST(small_kernels_run_concurrently) {
    begin();
    for (uint32_t k = 0; k < 3; k++) c[add(TIMELINE_KERNEL, k, 5)].device_share = 0.4;
    ck_seconds(run(&unit_rates), 10); /* two at once; the third has to wait */
    ck_seconds(c[1].begin, 0);
    begin();
    add(TIMELINE_KERNEL, 0, 5), add(TIMELINE_KERNEL, 1, 5);
    ck_seconds(run(&unit_rates), 10);
}
END_TEST

/* A large kernel waits for free SMs; a small one issued after it must not overtake it. */
START_TEST(kernels_do_not_overtake_each_other) {
    begin();
    c[add(TIMELINE_KERNEL, 0, 5)].device_share = 0.5;
    add(TIMELINE_KERNEL, 1, 5);
    c[add(TIMELINE_KERNEL, 2, 1)].device_share = 0.5;
    ck_seconds(run(&unit_rates), 11);
    ck_seconds(c[2].begin, 10);
}
END_TEST

START_TEST(events_order_streams) {
    begin();
    add(TIMELINE_H2D, 0, 4);
    add(TIMELINE_NONE, 0, 0); /* an event */
    add(TIMELINE_H2D, 0, 4);
    unsigned k = add(TIMELINE_KERNEL, 1, 2);
    after[k][0] = 2;
    ck_seconds(run(&unit_rates), 8);
    ck_seconds(c[k].begin, 4); /* not behind the second copy */
}
END_TEST

/* A wait by the host delays even streams that don't depend on it. */
START_TEST(a_blocking_host_delays_all_streams) {
    const struct timeline_rates r = {.h2d = 1, .d2h = 1, .bidirectional = 1.5, .host_wakeup = 0.5};
    begin();
    add(TIMELINE_H2D, 0, 4);
    unsigned k = add(TIMELINE_KERNEL, 1, 2);
    add_host_wait(k, 0);
    ck_seconds(run(&r), 6.5);
    ck_seconds(c[k].begin, 4.5);
}
END_TEST

START_TEST(starts_and_turnarounds_cost_time) {
    const struct timeline_rates r = {.h2d = 1,
                                     .d2h = 1,
                                     .bidirectional = 1.5,
                                     .copy_overhead = 0.25,
                                     .engine_switch = 0.5,
                                     .overlap = 0.125,
                                     .host_call = 0.01};
    begin();
    add(TIMELINE_H2D, 0, 1), add(TIMELINE_H2D, 0, 1), add(TIMELINE_KERNEL, 0, 1),
        add(TIMELINE_KERNEL, 0, 1), add(TIMELINE_D2H, 0, 1);
    ck_seconds(run(&r), 1.25 + 1.25 + 0.5 + 1 + 0.875 + 0.5 + 1.25);
    begin();
    add(TIMELINE_KERNEL, 0, 1);
    unsigned k = add(TIMELINE_D2H, 1, 1);
    add_dependency(k, 0);
    ck_seconds(run(&r), 1 + 0.5 + 1.25);
}
END_TEST

START_TEST(calls_occupy_the_host) {
    const struct timeline_rates r = {.h2d = 1, .d2h = 1, .bidirectional = 1.5, .host_call = 2};
    begin();
    for (uint32_t k = 0; k < 4; k++) c[add(TIMELINE_KERNEL, k, 1)].device_share = 0.1;
    ck_seconds(run(&r), 7);
}
END_TEST

/* Clocks start after the work that earlier calls gave the streams. */
START_TEST(sequence_numbers_continue_from_earlier_calls) {
    begin();
    last[0] = 100, last[5] = 7;
    add(TIMELINE_H2D, 0, 4);
    unsigned k = add(TIMELINE_KERNEL, 1, 2);
    after[k][0] = 100, after[k][5] = 7, done[k][0] = 99;
    ck_seconds(run(&unit_rates), 4);
    ck_seconds(c[k].begin, 0);
}
END_TEST

/* 64 MiB in and out, in parts: microseconds of docs/time-model.md's H100
 * (grader/tests/timing/copies-h100.tsv), kernels left out. */
START_TEST(overlap_times_match_an_h100) {
    static const struct {
        unsigned parts, streams;
        double us;
    } rows[] = {
        {1, 1, 2448.55}, {8, 1, 2549.99}, {2, 2, 1908.19}, {8, 2, 1533.82}, {8, 4, 1509.86}};
    struct timeline_rates r = time_timeline_rates(device_find("h100"));
    for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++) {
        begin();
        for (unsigned p = 0; p < rows[i].parts; p++) {
            add(TIMELINE_H2D, p % rows[i].streams, (64 << 20) / rows[i].parts);
            add(TIMELINE_D2H, p % rows[i].streams, (64 << 20) / rows[i].parts);
        }
        double us = run(&r) * 1e6;
        ck_assert_msg(us > 0.98 * rows[i].us && us < 1.02 * rows[i].us, "%u parts: %.0f us",
                      rows[i].parts, us);
    }
}
END_TEST

/* 64 kernels that take 0.42 us besides their launch, on an H100: 164.3 us in a stream, 62.5 as a
 * graph (docs/results/h100/async.tsv). The host issues a graph's nodes with one call. */
START_TEST(nodes_of_a_graph_cost_less_than_launches) {
    enum { KERNEL_COUNT = 64 };
    static struct timeline_command many[KERNEL_COUNT];
    static const double kernel = 0.42e-6, measured[2] = {164.29e-6, 62.5e-6};
    const struct gpu_device *d = device_find("h100");
    struct timeline_rates r = time_timeline_rates(d);
    for (unsigned graph = 0; graph < 2; graph++) {
        for (unsigned i = 0; i < KERNEL_COUNT; i++)
            many[i] = (struct timeline_command){.engine = TIMELINE_KERNEL,
                                                .number = graph ? 1 : i + 1,
                                                .in_same_call = graph && i,
                                                .seconds = d->launch_seconds + kernel,
                                                .device_share = 0.01};
        double seconds = time_timeline_run(many, KERNEL_COUNT, &r).seconds;
        ck_assert_msg(seconds > 0.93 * measured[graph] && seconds < 1.07 * measured[graph],
                      "%g us, measured %g", 1e6 * seconds, 1e6 * measured[graph]);
    }
}
END_TEST

/* 50 launches of a graph of such kernels in a row, on an H100 (docs/results/h100/graphs.tsv): the
 * time of one. The host takes part of the time of a graph with one kernel. */
START_TEST(graphs_behind_each_other_take_what_was_measured) {
    enum { LAUNCH_COUNT = 50, MAX_NODES = 64 };
    static struct timeline_command many[LAUNCH_COUNT * MAX_NODES];
    static const struct {
        unsigned nodes;
        double us, tolerance;
    } rows[] = {{1, 2.0, 0.3}, {2, 3.3, 0.1}, {3, 4.6, 0.1}, {10, 12.4, 0.12}, {64, 69.7, 0.12}};
    const struct gpu_device *d = device_find("h100");
    struct timeline_rates r = time_timeline_rates(d);
    for (unsigned k = 0; k < sizeof rows / sizeof *rows; k++) {
        unsigned count = rows[k].nodes * LAUNCH_COUNT;
        for (unsigned i = 0; i < count; i++)
            many[i] = (struct timeline_command){.engine = TIMELINE_KERNEL,
                                                .number = i / rows[k].nodes + 1,
                                                .in_same_call = i % rows[k].nodes != 0,
                                                .seconds = d->launch_seconds + 0.42e-6,
                                                .device_share = 0.01};
        double us = 1e6 * time_timeline_run(many, count, &r).seconds / LAUNCH_COUNT;
        ck_assert_msg(fabs(us / rows[k].us - 1) < rows[k].tolerance,
                      "%u nodes: %.2f us, measured %g", rows[k].nodes, us, rows[k].us);
    }
}
END_TEST

/* The device process is not trusted: what it sends of a schedule is checked. */
START_TEST(spans_arrive_and_malformed_ones_are_refused) {
    static const struct server_span bad[] = {{0, 1, SERVER_ENGINE_COUNT, 0},
                                             {0, 1, 0, 64},
                                             {1, 0.5, 0, 0},
                                             {-1, 0, 0, 0},
                                             {0, INFINITY, 0, 0}};
    struct launch_stats *t = xcalloc(1, sizeof *t), *back = xcalloc(1, sizeof *back);
    char *wire = xcalloc(1, launch_stats_wire_bytes());
    t->scheduled = true, t->nspans = 1, t->spans[0] = (struct server_span){0.5, 1, 3, 63};
    ck_assert(launch_stats_unpack(back, wire, launch_stats_pack(t, wire)));
    ck_assert_uint_eq(back->nspans, 1);
    ck_assert_double_eq(back->spans[0].begin, 0.5);
    ck_assert(back->spans[0].engine == 3 && back->spans[0].stream == 63);
    launch_stats_free(back);
    for (unsigned i = 0; i < sizeof bad / sizeof *bad; i++) {
        t->spans[0] = bad[i];
        ck_assert_msg(!launch_stats_unpack(back, wire, launch_stats_pack(t, wire)), "span %u", i);
    }
    free(t), free(back), free(wire);
}
END_TEST

UNIT_SUITE(timeline) {
    Suite *s = suite_create("timeline");
    TCase *t = tcase_create("timeline");
    tcase_add_test(t, commands_of_one_stream_run_serially);
    tcase_add_test(t, copies_in_both_directions_share_the_bus);
    tcase_add_test(t, copies_in_one_direction_run_serially);
    tcase_add_test(t, small_kernels_run_concurrently);
    tcase_add_test(t, kernels_do_not_overtake_each_other);
    tcase_add_test(t, events_order_streams);
    tcase_add_test(t, a_blocking_host_delays_all_streams);
    tcase_add_test(t, starts_and_turnarounds_cost_time);
    tcase_add_test(t, calls_occupy_the_host);
    tcase_add_test(t, sequence_numbers_continue_from_earlier_calls);
    tcase_add_test(t, nodes_of_a_graph_cost_less_than_launches);
    tcase_add_test(t, graphs_behind_each_other_take_what_was_measured);
    tcase_add_test(t, overlap_times_match_an_h100);
    tcase_add_test(t, spans_arrive_and_malformed_ones_are_refused);
    suite_add_tcase(s, t);
    return s;
}
