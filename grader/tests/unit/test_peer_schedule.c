/* test_peer_schedule.c — tests what the commands of two devices can do at the same time
 * (grader/server/peer_schedule.c), on recordings made by hand. Kernels have 100 warp instructions
 * on the edge and 300 inside; copies have 64 bytes. */
#include "grader/server/internal.h"
#include "grader/sim/device.h"
#include "grader/tests/unit/unit.h"

#include <stdlib.h>
#include <string.h>

enum { EDGE_0 = 4, INNER_0, EDGE_1, INNER_1, NSTREAMS, MAX_COMMANDS = 32, BYTES = 64 };

static struct server server;
static struct backend backend;
static struct recording recording;
static struct command commands[MAX_COMMANDS];
static struct server_launch_time launches[MAX_COMMANDS];
static uint32_t clocks[2][WB_MAX_STREAMS]; /* what comes before the next command; the host's */
static uint32_t last[NSTREAMS];            /* of each stream, the last command's number */

static void open_recording(void) {
    backend = (struct backend){.device = device_find("h200"), .ndevices = 2};
    server = (struct server){.backend = &backend};
    recording = (struct recording){.commands = commands};
    memset(clocks, 0, sizeof clocks), memset(last, 0, sizeof last);
}
static void close_recording(void) { buf_free(&recording.bytes); }

static size_t add_bytes(const void *bytes, size_t size) {
    static const char zeros[16];
    size_t at = recording.bytes.size;
    buf_add(&recording.bytes, bytes, size);
    buf_add(&recording.bytes, zeros, (16 - size % 16) % 16);
    return at;
}

static void add_order(uint32_t stream, unsigned device) {
    struct wb_req_order q = {.stream = stream, .number = ++last[stream]};
    clocks[0][stream] = last[stream];
    struct command *c = &commands[recording.ncommands++];
    *c = (struct command){.op = WB_OP_order, .device = device, .tail_size = sizeof clocks};
    c->request = add_bytes(&q, sizeof q);
    c->tail = add_bytes(clocks, sizeof clocks);
    memset(clocks, 0, sizeof clocks);
}

/* The next command comes after that one of another stream. */
static void wait_for(uint32_t stream, uint32_t number) { clocks[0][stream] = number; }

static void add_kernel(uint32_t stream, unsigned device, double instructions) {
    add_order(stream, device);
    commands[recording.ncommands++] = (struct command){.op = WB_OP_launch, .device = device};
    launches[recording.launches++].instructions = instructions;
}

static void add_copy(uint32_t stream, unsigned from) {
    struct wb_req_copy q = {.width = BYTES, .rows = 1};
    add_order(stream, from);
    struct command *c = &commands[recording.ncommands++];
    *c = (struct command){
        .op = WB_OP_copy, .device = from, .from_device = from, .to_device = from ^ 1};
    c->request = add_bytes(&q, sizeof q);
}

static struct server_peer_traffic traffic(void) {
    return recording_peer_traffic(&server, &recording, launches, recording.launches);
}

static void add_edges(void) { add_kernel(EDGE_0, 0, 100), add_kernel(EDGE_1, 1, 100); }

/* All kernels of a device come before or after its copy. */
START_TEST(copies_between_whole_steps_overlap_nothing) {
    add_edges();
    add_copy(EDGE_0, 0), add_copy(EDGE_1, 1);
    wait_for(EDGE_1, 2), add_kernel(EDGE_0, 0, 100);
    wait_for(EDGE_0, 2), add_kernel(EDGE_1, 1, 100);
    struct server_peer_traffic t = traffic();
    ck_assert_double_eq(t.copied_bytes, 2 * BYTES);
    ck_assert_double_eq(t.critical_path_bytes, BYTES); /* both directions at once */
    ck_assert_double_eq(t.overlap_instructions, 0);
    ck_assert_double_eq_tol(t.kernel_critical_path, 200, 1e-6);
}
END_TEST

START_TEST(copies_of_one_stream_follow_each_other) {
    add_edges();
    add_copy(EDGE_0, 0);
    wait_for(EDGE_1, 1), add_copy(EDGE_0, 1);
    ck_assert_double_eq(traffic().critical_path_bytes, 2 * BYTES);
}
END_TEST

/* On device 1, its own edge could run beside the copy from 0, too; device 0 has fewer. */
START_TEST(kernels_of_other_streams_overlap_copies) {
    add_edges();
    add_copy(EDGE_0, 0), add_copy(EDGE_1, 1);
    add_kernel(INNER_0, 0, 300), add_kernel(INNER_1, 1, 300);
    struct server_peer_traffic t = traffic();
    ck_assert_double_eq(t.overlap_instructions, 300);
    ck_assert_double_eq_tol(t.kernel_critical_path, 400, 1e-6);
}
END_TEST

/* Two copies from 0 share the 300 of device 0, and the one from 1 has 300 of its own. */
START_TEST(copies_of_one_direction_share_a_kernel) {
    add_edges();
    add_copy(EDGE_0, 0), add_copy(EDGE_0, 0), add_copy(EDGE_1, 1);
    add_kernel(INNER_0, 0, 300), add_kernel(INNER_1, 1, 300);
    ck_assert_double_eq(traffic().overlap_instructions, (150 + 150 + 300) / 3.);
}
END_TEST

/* 192 bytes by two kernels, which run meanwhile, and 64 by a copy that overlaps nothing. */
START_TEST(accesses_of_a_kernel_cross_while_it_runs) {
    add_edges();
    launches[0].peer_bytes = launches[1].peer_bytes = 96;
    ck_assert_double_eq(traffic().overlap_instructions, 100);
    ck_assert_double_eq(traffic().kernel_bytes, 192);
    add_copy(EDGE_0, 0);
    wait_for(EDGE_0, 2), add_kernel(EDGE_1, 1, 0);
    ck_assert_double_eq(traffic().overlap_instructions, 192 * 100 / 256.);
    launches[0].peer_bytes = launches[1].peer_bytes = 0;
}
END_TEST

START_TEST(one_device_has_no_traffic) {
    add_edges();
    add_copy(EDGE_0, 0);
    backend.ndevices = 1;
    struct server_peer_traffic t = traffic(), none = {0};
    ck_assert_mem_eq(&t, &none, sizeof t);
}
END_TEST

UNIT_SUITE(peer_schedule) {
    Suite *s = suite_create("peer_schedule");
    TCase *c = tcase_create("recordings");
    tcase_add_checked_fixture(c, open_recording, close_recording);
    tcase_add_test(c, copies_between_whole_steps_overlap_nothing);
    tcase_add_test(c, copies_of_one_stream_follow_each_other);
    tcase_add_test(c, kernels_of_other_streams_overlap_copies);
    tcase_add_test(c, copies_of_one_direction_share_a_kernel);
    tcase_add_test(c, accesses_of_a_kernel_cross_while_it_runs);
    tcase_add_test(c, one_device_has_no_traffic);
    suite_add_tcase(s, c);
    return s;
}
