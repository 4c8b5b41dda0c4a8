/* test_repeats.c — tests which of a program's repeated commands the device server skips, and that
 * nobody can tell. A kernel of the fake device takes a millisecond, and a hash of its few bytes a
 * thousandth of that. So the server compares hashes around the second repetition, at once. */
#include "grader/tests/unit/fake_device.h"
#include "grader/tests/unit/unit.h"

#include <string.h>

enum { BYTES = 16, ROUNDS = 10 };

static struct fixture f;
static uint64_t set, count, a, b;

static void open_fixture(void) {
    fixture_open(&f, (struct server_options){.skip_repeats = true}, true);
    set = fixture_kernel(&f, "set"), count = fixture_kernel(&f, "count");
    a = fixture_alloc(&f, BYTES), b = fixture_alloc(&f, BYTES);
}
static void close_fixture(void) { fixture_close(&f); }

static void launch(uint64_t kernel, uint64_t address) {
    ck_assert_int_eq(fixture_launch(&f, kernel, 32, address, BYTES), 0);
}

static void write_bytes(uint64_t address, uint8_t value) {
    uint8_t data[BYTES];
    memset(data, value, BYTES);
    struct wb_req_write q = {.address = address, .pitch = BYTES, .width = BYTES, .rows = 1};
    ck_assert_int_eq(REQUEST_TAIL(&f, write, &q, NULL, data, BYTES), 0);
}

static void fill(uint64_t address, uint8_t value) {
    struct wb_req_fill q = {
        .address = address, .pitch = BYTES, .width = BYTES, .rows = 1, .value = value};
    ck_assert_int_eq(REQUEST(&f, fill, &q, NULL), 0);
}

static uint8_t first_byte(uint64_t address) {
    struct wb_req_read q = {.address = address, .pitch = BYTES, .width = BYTES, .rows = 1};
    ck_assert_int_eq(REQUEST(&f, read, &q, NULL), 0);
    return f.window[0];
}

/* Waits for the last launch, too. */
static unsigned executed(void) {
    ck_assert_int_eq(REQUEST(&f, sync, (&(struct wb_req_sync){0}), NULL), 0);
    return fake_launch_count(server_backend(f.server));
}

START_TEST(launches_that_change_nothing_are_skipped) {
    _Alignas(8) uint8_t frame[WB_FRAME_BYTES];
    struct {
        struct wb_header header;
        struct wb_req_sync sync;
    } q = {.header = {.op = WB_OP_sync, .seq = 7, .size = sizeof q}};
    struct wb_header p;
    for (int i = 0; i < ROUNDS; i++) launch(set, a);
    /* The first one changes the bytes; the second shows that another changes nothing. */
    ck_assert_uint_eq(executed(), 2);
    ck_assert_uint_eq(f.launch_count, ROUNDS);
    ck_assert_uint_eq(fixture_raw(&f, &q, sizeof q, frame), sizeof p);
    memcpy(&p, frame, sizeof p);
    ck_assert_uint_eq(p.time_ns, ROUNDS * 2000); /* 2 us each */
    ck_assert_uint_eq(first_byte(a), 7);
    launch(set, b); /* other parameters */
    ck_assert_uint_eq(executed(), 3);
    ck_assert_uint_eq(first_byte(b), 7);
}
END_TEST

START_TEST(launches_that_read_nothing_they_write_run_once) {
    uint64_t set_unread = fixture_kernel(&f, "set_unread");
    for (int i = 0; i < ROUNDS; i++) launch(set_unread, a);
    ck_assert_uint_eq(executed(), 1);
    ck_assert_uint_eq(f.launch_count, ROUNDS);
    ck_assert_uint_eq(first_byte(a), 7);
    launch(set_unread, a); /* A read changes nothing. */
    ck_assert_uint_eq(executed(), 1);
    fill(a, 0);
    launch(set_unread, a);
    ck_assert_uint_eq(executed(), 2);
    ck_assert_uint_eq(first_byte(a), 7);
    launch(count, a);
    launch(set_unread, a);
    ck_assert_uint_eq(executed(), 4);
    ck_assert_uint_eq(first_byte(a), 7);
}
END_TEST

/* set, set, fill: the first two are the same, so that one of them never runs. */
START_TEST(cycles_with_such_launches_are_skipped) {
    uint64_t set_unread = fixture_kernel(&f, "set_unread");
    for (int i = 0; i < ROUNDS; i++) launch(set_unread, a), launch(set_unread, a), fill(a, 1);
    ck_assert_uint_le(executed(), 6);
    ck_assert_uint_eq(f.launch_count, 2 * ROUNDS);
    ck_assert_uint_eq(first_byte(a), 1);
}
END_TEST

START_TEST(launches_that_change_memory_are_executed) {
    fill(a, 0);
    for (int i = 0; i < ROUNDS; i++) launch(count, a);
    ck_assert_uint_eq(executed(), ROUNDS);
    ck_assert_uint_eq(first_byte(a), ROUNDS);
}
END_TEST

START_TEST(launches_with_output_are_executed) {
    uint64_t add = fixture_kernel(&f, "add");
    for (int i = 0; i < ROUNDS; i++) write_bytes(a, 0), launch(add, a);
    ck_assert_uint_eq(executed(), ROUNDS);
}
END_TEST

/* A round sets `a` to 1, then 2. After the second round, each leaves memory as it was. */
static void repeat_rounds(void) {
    for (int i = 0; i < ROUNDS; i++) write_bytes(a, 1), launch(count, a);
    ck_assert_uint_le(executed(), 3);
    ck_assert_uint_eq(f.launch_count, ROUNDS);
}

START_TEST(a_cycle_of_several_commands_is_skipped) {
    repeat_rounds();
    ck_assert_uint_eq(first_byte(a), 2);
}
END_TEST

START_TEST(a_read_within_a_cycle_finds_its_first_commands_done) {
    repeat_rounds();
    write_bytes(a, 1);
    ck_assert_uint_eq(first_byte(a), 1);
    launch(count, a);
    ck_assert_uint_eq(first_byte(a), 2);
}
END_TEST

START_TEST(another_command_within_a_cycle_finds_its_first_commands_done) {
    repeat_rounds();
    write_bytes(a, 1);
    launch(count, b);
    ck_assert_uint_eq(first_byte(a), 1);
}
END_TEST

START_TEST(other_data_ends_a_cycle) {
    repeat_rounds();
    write_bytes(a, 5), launch(count, a);
    ck_assert_uint_eq(first_byte(a), 6);
}
END_TEST

START_TEST(cycles_with_reads_are_skipped) {
    for (int i = 0; i < ROUNDS; i++) {
        write_bytes(a, 1), launch(count, a);
        ck_assert_uint_eq(first_byte(a), 2);
    }
    ck_assert_uint_le(executed(), 3);
}
END_TEST

UNIT_SUITE(repeats) {
    Suite *suite = suite_create("repeats");
    TCase *tcase = tcase_create("repeats");
    tcase_add_checked_fixture(tcase, open_fixture, close_fixture);
    tcase_add_test(tcase, launches_that_change_nothing_are_skipped);
    tcase_add_test(tcase, launches_that_read_nothing_they_write_run_once);
    tcase_add_test(tcase, cycles_with_such_launches_are_skipped);
    tcase_add_test(tcase, launches_that_change_memory_are_executed);
    tcase_add_test(tcase, launches_with_output_are_executed);
    tcase_add_test(tcase, a_cycle_of_several_commands_is_skipped);
    tcase_add_test(tcase, a_read_within_a_cycle_finds_its_first_commands_done);
    tcase_add_test(tcase, another_command_within_a_cycle_finds_its_first_commands_done);
    tcase_add_test(tcase, other_data_ends_a_cycle);
    tcase_add_test(tcase, cycles_with_reads_are_skipped);
    suite_add_tcase(suite, tcase);
    return suite;
}
