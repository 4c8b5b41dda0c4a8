/* test_devices.c — tests several devices: whose memory kernels may access, what a reset leaves,
 * whose variables a module has, how messages name a device, and how commands of two devices
 * overlap. Whole programs are in grader/tests/programs/devices (suite `programs`); their expected
 * output is what two H200s printed. */
#include "grader/server/server.h"
#include "grader/sim/device.h"
#include "grader/sim/timing/timeline.h"
#include "grader/tests/unit/fake_device.h"
#include "grader/tests/unit/kernel.h"
#include "grader/tests/unit/unit.h"

#include <string.h>

enum { BIT_1 = 2 };

/* ---- memory and kernels ---- */

/* Adds 1 to the word at p by an atomic of system scope, and to the module's variable. */
static const char ptx[] = ".version 7.8\n.target sm_90\n.address_size 64\n"
                          ".visible .global .align 4 .u32 v = 5;\n"
                          ".visible .entry k(.param .u64 p) {\n"
                          "  .reg .u64 %rd<3>; .reg .u32 %r<3>;\n"
                          "  ld.param.u64 %rd1, [p];\n"
                          "  atom.global.sys.add.u32 %r1, [%rd1], 1;\n"
                          "  ld.global.u32 %r2, [v];\n"
                          "  add.u32 %r2, %r2, 1;\n"
                          "  st.global.u32 [v], %r2;\n"
                          "  ret;\n}\n";

static struct kernel_rig rig;
static void open_rig(void) {
    rig =
        rig_open_with(ptx, (struct rig_options){.sanitize = true, .memory = 1 << 20, .devices = 2});
}
static void close_rig(void) { rig_close(&rig); }

static uint32_t word_at(uint64_t address) {
    uint32_t value = UINT32_MAX;
    ck_assert_int_eq(sim_read(rig.sim, address, &value, sizeof value), SIM_OK);
    return value;
}

static uint64_t new_word(unsigned device) {
    sim_select_device(rig.sim, device, 0);
    uint64_t p = sim_alloc(rig.sim, 4, "word");
    ck_assert(p != 0 && sim_fill(rig.sim, p, 0, 4) == SIM_OK);
    return p;
}

static struct sim_result run_on(unsigned device, uint32_t accessible, uint64_t p) {
    sim_select_device(rig.sim, device, accessible);
    return rig_run(&rig, "k", 1, 1, &p, sizeof p);
}

START_TEST(kernels_access_other_devices_only_if_allowed) {
    uint64_t p = new_word(1);
    struct sim_result denied = run_on(0, 0, p), allowed;
    const struct sim_report *r = rig_report(&denied, SIM_FAULT_OUT_OF_BOUNDS);
    ck_assert_int_eq(denied.fault, SIM_FAULT_OUT_OF_BOUNDS);
    ck_assert_ptr_nonnull(r);
    ck_assert_ptr_nonnull(strstr(r->text, "of device 1, which device 0 may not access"));
    ck_assert_uint_eq(word_at(p), 0); /* copies still reach it */
    allowed = run_on(0, BIT_1, p);
    ck_assert_int_eq(allowed.fault, SIM_FAULT_NONE);
    ck_assert_uint_eq(word_at(p), 1);
    sim_result_free(&denied), sim_result_free(&allowed);
}
END_TEST

START_TEST(each_device_has_the_whole_capacity) {
    for (unsigned d = 0; d < 2; d++) {
        sim_select_device(rig.sim, d, 0);
        uint64_t used = sim_memory_used(rig.sim), rest = (1 << 20) - used;
        ck_assert_uint_eq(used, d ? 0 : 4); /* the variable */
        uint64_t p = sim_alloc(rig.sim, rest, "rest");
        ck_assert(p != 0 && sim_device_of(rig.sim, p) == d);
        ck_assert_uint_eq(sim_alloc(rig.sim, 1, "more"), 0);
    }
}
END_TEST

START_TEST(each_device_has_its_own_variables) {
    struct err e = {0};
    uint64_t address[2], bytes, p = new_word(1);
    sim_select_device(rig.sim, 1, 0);
    struct kernel_rig second = {rig.sim, sim_load(rig.sim, ptx, sizeof ptx - 1, &e)};
    ck_assert_msg(second.module != NULL, "%s", e.text);
    ck_assert(sim_find_symbol(rig.module, "v", &address[0], &bytes) &&
              sim_find_symbol(second.module, "v", &address[1], &bytes));
    struct sim_result r = rig_run(&second, "k", 1, 1, &p, sizeof p);
    ck_assert_int_eq(r.fault, SIM_FAULT_NONE);
    ck_assert_uint_eq(word_at(address[0]), 5);
    ck_assert_uint_eq(word_at(address[1]), 6);
    sim_result_free(&r);
}
END_TEST

START_TEST(a_reset_affects_one_device) {
    uint64_t p = new_word(0), q = new_word(1), v, bytes;
    ck_assert(sim_find_symbol(rig.module, "v", &v, &bytes));
    ck_assert_int_eq(sim_fill(rig.sim, v, 9, 4), SIM_OK);
    sim_select_device(rig.sim, 1, 0);
    sim_reset_device(rig.sim);
    ck_assert_int_eq(sim_read(rig.sim, q, &bytes, 4), SIM_BAD_ADDRESS);
    ck_assert_uint_eq(word_at(p), 0);
    ck_assert_uint_eq(word_at(v), 0x09090909);
    sim_select_device(rig.sim, 0, 0);
    sim_reset_device(rig.sim);
    ck_assert_int_eq(sim_read(rig.sim, p, &bytes, 4), SIM_BAD_ADDRESS);
    ck_assert_uint_eq(word_at(v), 5);
}
END_TEST

/* One lane updates one word of the other device's memory: a sector. */
START_TEST(traffic_with_other_devices_is_known_while_streams_are_checked) {
    uint64_t p = new_word(1);
    sim_set_stream_clock(rig.sim, &(struct sim_stream_clock){.stream = 4, .sequence = 1});
    struct sim_result peer = run_on(0, BIT_1, p);
    ck_assert_int_eq(peer.fault, SIM_FAULT_NONE);
    ck_assert_uint_eq(peer.peer_bytes, 32);
    sim_result_free(&peer);
}
END_TEST

/* ---- messages ---- */

START_TEST(messages_for_a_missing_device_end_the_connection) {
    _Alignas(8) uint8_t frame[WB_FRAME_BYTES];
    struct fixture f;
    fixture_open(&f, (struct server_options){0}, true);
    struct wb_header q = {.op = WB_OP_memory_info, .seq = 1, .size = sizeof q};
    ck_assert_uint_gt(fixture_raw(&f, &q, sizeof q, frame), 0);
    q.device = 1;
    ck_assert_uint_eq(fixture_raw(&f, &q, sizeof q, frame), 0);
    fixture_close(&f);
}
END_TEST

START_TEST(one_device_has_no_peers) {
    struct fixture f;
    fixture_open(&f, (struct server_options){0}, true);
    for (uint32_t peer = 0; peer < 40; peer++)
        ck_assert_int_ne(REQUEST(&f, peer_access, (&(struct wb_req_peer_access){peer, true}), NULL),
                         0);
    fixture_close(&f);
}
END_TEST

/* ---- time ---- */

static uint32_t after[4][TIMELINE_MAX_STREAMS];

/* The only command of its stream. */
static struct timeline_command command(enum timeline_engine e, uint32_t device, uint32_t stream,
                                       double size) {
    struct timeline_command c = {.engine = e,
                                 .device = device,
                                 .stream = stream,
                                 .number = 1,
                                 .after = after[stream],
                                 .device_share = 1};
    memset(after[stream], 0, sizeof after[stream]);
    if (e == TIMELINE_KERNEL) c.seconds = size;
    else c.bytes = size;
    return c;
}

static double run(struct timeline_command *c, unsigned n) {
    static const struct timeline_rates rates = {.h2d = 1,
                                                .d2h = 1,
                                                .bidirectional = 1.5,
                                                .peer = 4,
                                                .peer_overhead = 0.5,
                                                .engine_switch = 100,
                                                .device_switch = 3};
    return time_timeline_run(c, n, &rates).seconds;
}

#define ck_seconds(x, y) ck_assert_double_eq_tol(x, y, 1e-9)

START_TEST(devices_run_their_commands_at_the_same_time) {
    struct timeline_command kernels[] = {command(TIMELINE_KERNEL, 0, 0, 5),
                                         command(TIMELINE_KERNEL, 1, 1, 7)};
    struct timeline_command copies[] = {command(TIMELINE_H2D, 0, 0, 5),
                                        command(TIMELINE_D2H, 1, 1, 7)};
    ck_seconds(run(kernels, 2), 7);
    ck_seconds(run(copies, 2), 7); /* each has its own bus */
    kernels[1].device = 0;
    ck_seconds(run(kernels, 2), 12);
}
END_TEST

/* 8 bytes at 4 bytes a second behind half a second: 2.5 seconds for each copy. */
START_TEST(copies_between_devices_share_one_direction_only) {
    struct timeline_command c[] = {command(TIMELINE_PEER, 0, 0, 8),
                                   command(TIMELINE_PEER, 1, 1, 8)};
    ck_seconds(run(c, 2), 2.5);
    c[1].device = 0;
    ck_seconds(run(c, 2), 5);
}
END_TEST

START_TEST(waiting_for_another_device_takes_time) {
    struct timeline_command c[] = {command(TIMELINE_KERNEL, 0, 0, 5),
                                   command(TIMELINE_KERNEL, 1, 1, 7)};
    after[1][0] = 1;
    ck_seconds(run(c, 2), 5 + 3 + 7);
    c[1].device = 0;
    ck_seconds(run(c, 2), 5 + 7);
}
END_TEST

static double copy_us(double bytes, bool is_direct, bool is_pulled) {
    const struct gpu_device *d = device_find("h200");
    struct timeline_rates rates = time_timeline_rates(d);
    struct timeline_command c = {.engine = TIMELINE_PEER, .number = 1};
    time_peer_copy(d, bytes, is_direct, is_pulled, &c);
    return time_timeline_run(&c, 1, &rates).seconds * 1e6;
}

/* Rows of grader/tests/timing/peers-h200.tsv, in microseconds. */
START_TEST(copies_take_as_long_as_between_two_h200s) {
    static const struct {
        double bytes, us;
        bool is_direct, is_pulled;
        double tolerance;
    } rows[] = {
        {4096, 5.09, true, false, 0.02},        {1 << 20, 7.71, true, false, 0.02},
        {16 << 20, 48.51, true, false, 0.03},   {256 << 20, 682.30, true, false, 0.01},
        {4096, 14.82, true, true, 0.06},        {4 << 20, 24.16, true, true, 0.03},
        {256 << 20, 687.74, true, true, 0.01},  {4096, 17.76, false, false, 0.02},
        {16 << 20, 462.05, false, false, 0.03}, {256 << 20, 6999.68, false, false, 0.01},
    };
    for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++)
        ck_assert_double_eq_tol(copy_us(rows[i].bytes, rows[i].is_direct, rows[i].is_pulled),
                                rows[i].us, rows[i].us * rows[i].tolerance);
}
END_TEST

/* The same file: a kernel that reads memory of the other device. */
START_TEST(kernels_take_as_long_as_the_link_to_the_other_h200) {
    const struct gpu_device *d = device_find("h200");
    ck_assert_double_eq_tol(time_peer_kernel_seconds(d, 64 << 20) * 1e6, 188.54, 188.54 * 0.05);
    ck_assert_double_eq_tol(time_peer_kernel_seconds(d, 256 << 20) * 1e6, 727.33, 727.33 * 0.02);
}
END_TEST

UNIT_SUITE(devices) {
    Suite *s = suite_create("devices");
    TCase *memory = tcase_create("memory"), *messages = tcase_create("messages"),
          *time = tcase_create("time");
    tcase_add_checked_fixture(memory, open_rig, close_rig);
    tcase_add_test(memory, kernels_access_other_devices_only_if_allowed);
    tcase_add_test(memory, each_device_has_the_whole_capacity);
    tcase_add_test(memory, each_device_has_its_own_variables);
    tcase_add_test(memory, a_reset_affects_one_device);
    tcase_add_test(memory, traffic_with_other_devices_is_known_while_streams_are_checked);
    tcase_add_test(messages, messages_for_a_missing_device_end_the_connection);
    tcase_add_test(messages, one_device_has_no_peers);
    tcase_add_test(time, devices_run_their_commands_at_the_same_time);
    tcase_add_test(time, copies_between_devices_share_one_direction_only);
    tcase_add_test(time, waiting_for_another_device_takes_time);
    tcase_add_test(time, copies_take_as_long_as_between_two_h200s);
    tcase_add_test(time, kernels_take_as_long_as_the_link_to_the_other_h200);
    suite_add_tcase(s, memory);
    suite_add_tcase(s, messages);
    suite_add_tcase(s, time);
    return s;
}
