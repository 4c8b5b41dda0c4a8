/* test_server.c — tests the device server: sticky errors, recording, replay, and what it refuses
 * while grading. */
#include "grader/tests/unit/fake_host.h"
#include "grader/tests/unit/unit.h"

#include <stdlib.h>
#include <string.h>

static struct fixture f;
static void open_fixture(void) { fixture_open(&f, (struct server_options){0}, true); }
static void open_grading(void) {
    fixture_open(
        &f,
        (struct server_options){.grading = true, .max_recorded_bytes = 10000, .max_launches = 20},
        false);
}
static void close_all(void) { fixture_close(&f); }

START_TEST(errors_are_sticky) {
    uint64_t fault = fixture_kernel(&f, "fault"), p = fixture_alloc(&f, 16);
    ck_assert_int_eq(REQUEST(&f, sync, (&(struct wb_req_sync){0}), NULL), 0);
    ck_assert_int_eq(fixture_launch(&f, fault, 32, p, 16),
                     0); /* asynchronous: the launch itself went well */
    for (int i = 0; i < 2; i++)
        ck_assert_int_eq(REQUEST(&f, sync, (&(struct wb_req_sync){0}), NULL),
                         WB_cudaErrorIllegalAddress);
    struct wb_rep_alloc a;
    ck_assert_int_eq(REQUEST(&f, alloc, &(struct wb_req_alloc){.bytes = 1}, &a),
                     WB_cudaErrorIllegalAddress);
    ck_assert_uint_eq(a.address, 0);
    struct wb_rep_hello h;
    ck_assert_int_eq(REQUEST(&f, hello, (&(struct wb_req_hello){wb_version(), 1}), &h),
                     0); /* another process */
    ck_assert_int_eq(REQUEST(&f, sync, (&(struct wb_req_sync){0}), NULL), 0);
}
END_TEST

START_TEST(a_version_mismatch_is_detected_by_hello) {
    struct wb_rep_hello h;
    uint64_t p = fixture_alloc(&f, 16);
    ck_assert_int_eq(REQUEST(&f, hello, (&(struct wb_req_hello){wb_version() + 1, 1}), &h),
                     WB_cudaErrorInsufficientDriver);
    ck_assert(server_has_version_mismatch(f.server));
    fixture_close(&f);
    open_fixture();
    p = fixture_alloc(&f, 16);
    ck_assert_int_eq(REQUEST(&f, hello, (&(struct wb_req_hello){wb_version(), 1}), &h), 0);
    ck_assert_uint_eq(h.window_bytes, 64 << 10);
    ck_assert_int_eq(REQUEST(&f, free, &(struct wb_req_free){.address = p}, NULL),
                     WB_cudaErrorInvalidValue); /* gone with its process */
    p = fixture_alloc(&f, 16);
    ck_assert_int_eq(REQUEST(&f, hello, (&(struct wb_req_hello){wb_version(), 1}), &h),
                     0); /* a library of the same process */
    ck_assert_int_eq(REQUEST(&f, free, &(struct wb_req_free){.address = p}, NULL), 0);
}
END_TEST

START_TEST(replies_carry_device_time_and_output_flag) {
    _Alignas(8) uint8_t frame[WB_FRAME_BYTES];
    struct {
        struct wb_header header;
        struct wb_req_sync request;
    } sync = {.header = {.op = WB_OP_sync, .seq = 7, .size = sizeof sync}};
    struct wb_header q = {.op = WB_OP_output, .seq = 7, .size = sizeof q}, p;
    uint64_t add = fixture_kernel(&f, "add"), a = fixture_alloc(&f, 4);
    for (int i = 0; i < 2; i++) ck_assert_int_eq(fixture_launch(&f, add, 32, a, 4), 0);
    ck_assert_uint_eq(fixture_raw(&f, &sync, sizeof sync, frame), sizeof q);
    memcpy(&p, frame, sizeof p);
    ck_assert_uint_eq(p.time_ns, 4000); /* two launches of 2 us */
    ck_assert_uint_eq(p.flags, WB_OUTPUT_PENDING);
    ck_assert_uint_eq(fixture_raw(&f, &q, sizeof q, frame),
                      sizeof q + sizeof(struct wb_rep_output) + 12);
    ck_assert_mem_eq(frame + sizeof q + sizeof(struct wb_rep_output), "hello\nhello\n", 12);
    memcpy(&p, frame, sizeof p);
    ck_assert_uint_eq(p.flags, 0);
}
END_TEST

/* ---- grading: a thread plays the host process ---- */

static struct fake_host host = {.fixture = &f};

static struct recording *recorded(entry_fn *entry, struct server_outcome *out) {
    return fake_host_record(&host, entry, out);
}
static void replay(const struct recording *r, const char in[32], char out[32]) {
    fake_host_replay(&host, r, in, out);
}

/* Through a temporary and a variable: out = in + 1 + 1, with bytes 0..3 from the host. */
static void good_entry(const struct wb_arg *args) {
    uint64_t in = args[0].value, out = args[1].value, temporary = fixture_alloc(&f, 32),
             v = FAKE_BASE;
    ck_assert_uint_eq(args[2].value, 32);
    ck_assert_int_eq(REQUEST(&f, copy, (&(struct wb_req_copy){temporary, 32, in, 32, 32, 1}), NULL),
                     0);
    ck_assert_int_eq(fixture_launch(&f, host.add, 32, temporary, 32), 0);
    memcpy(f.window, "host", 4);
    ck_assert_int_eq(REQUEST(&f, write, (&(struct wb_req_write){temporary, 4, 4, 1, 0}), NULL), 0);
    memset(f.window, '!', 4); /* too late to matter */
    ck_assert_int_eq(fixture_launch(&f, host.add, 32, v, 1), 0);
    ck_assert_int_eq(
        REQUEST(&f, copy, (&(struct wb_req_copy){out, 32, temporary, 32, 32, 1}), NULL), 0);
    ck_assert_int_eq(REQUEST(&f, copy, (&(struct wb_req_copy){out + 31, 1, v, 1, 1, 1}), NULL), 0);
    ck_assert_int_eq(fixture_launch(&f, host.add, 32, out, 31), 0);
    ck_assert_int_eq(REQUEST(&f, free, &(struct wb_req_free){.address = temporary}, NULL), 0);
}

/* A column of 40 words out of rows of 100 bytes: a sector each, into 160 bytes side by side; 3 rows
 * of 20 bytes that are 64 apart, the first from byte 16 of a sector on: two sectors each; and a
 * fill of 33 bytes. */
static void moving_entry(const struct wb_arg *args) {
    (void)args;
    uint64_t a = fixture_alloc(&f, 8192);
    ck_assert_uint_eq(a % 32, 0);
    ck_assert_int_eq(REQUEST(&f, copy, (&(struct wb_req_copy){a + 4096, 4, a, 100, 4, 40}), NULL),
                     0);
    ck_assert_int_eq(
        REQUEST(&f, copy, (&(struct wb_req_copy){a + 4096 + 16, 64, a, 64, 20, 3}), NULL), 0);
    ck_assert_int_eq(REQUEST(&f, fill, (&(struct wb_req_fill){a, 33, 33, 1, 0, 0}), NULL), 0);
}

START_TEST(copies_and_fills_of_a_recording_are_counted) {
    struct server_outcome o;
    struct recording *r = recorded(moving_entry, &o);
    ck_assert_ptr_nonnull(r);
    struct server_transfers m = recording_transfers(f.server, r);
    ck_assert_uint_eq(m.copies, 2);
    ck_assert_uint_eq(m.fills, 1);
    ck_assert_uint_eq(m.copied_bytes, 160 + 60);
    ck_assert_uint_eq(m.copied_sectors_read, 40 + 3);
    ck_assert_uint_eq(m.copied_sectors_written, 5 + 6);
    ck_assert_uint_eq(m.filled_bytes, 33);
    ck_assert_uint_eq(m.filled_sectors, 2);
    recording_free(r);
}
END_TEST

static uint64_t allocate(uint64_t bytes, uint32_t is_ordered) {
    struct wb_rep_alloc p;
    ck_assert_int_eq(REQUEST(&f, alloc, (&(struct wb_req_alloc){bytes, is_ordered, 0}), &p), 0);
    return p.address;
}

static void release(uint64_t address, uint32_t is_ordered) {
    ck_assert_int_eq(REQUEST(&f, free, (&(struct wb_req_free){address, is_ordered, 0}), NULL), 0);
}

/* One allocation, one free and a wait that are not in a stream's order. */
static void allocating_entry(const struct wb_arg *args) {
    (void)args;
    uint64_t a = allocate(100, false), b = allocate(50, true);
    release(a, false);
    uint64_t c = allocate(60, true);
    release(b, true);
    ck_assert_int_eq(REQUEST(&f, sync, (&(struct wb_req_sync){0}), NULL), 0); /* no wait */
    ck_assert_int_eq(REQUEST(&f, sync, (&(struct wb_req_sync){.is_wait = 1}), NULL), 0);
    release(c, true);
}

START_TEST(synchronizing_calls_and_temporary_bytes_of_a_recording_are_counted) {
    struct server_outcome o;
    struct recording *r = recorded(allocating_entry, &o);
    ck_assert_ptr_nonnull(r);
    struct server_transfers m = recording_transfers(f.server, r);
    ck_assert_uint_eq(m.synchronizing_calls, 3);
    ck_assert_uint_eq(m.max_temporary_bytes, 100 + 50);
    recording_free(r);
}
END_TEST

START_TEST(a_recording_replays_its_calls) {
    struct server_outcome o;
    char out[33] = {0};
    struct recording *r = recorded(good_entry, &o);
    ck_assert_ptr_nonnull(r);
    ck_assert_int_eq(o.error, 0);
    ck_assert_uint_eq(f.launch_count, 0); /* recorded, not run */
    ck_assert_uint_eq(recording_launches(r), 3);
    struct server_transfers m = recording_transfers(f.server, r);
    ck_assert_uint_eq(m.copied_bytes, 32 + 32 + 1);
    ck_assert_uint_eq(m.copied_sectors_read, 3); /* each copy lies in one sector at both ends */
    ck_assert_uint_eq(m.copied_sectors_written, 3);
    ck_assert_uint_eq(m.filled_bytes + m.filled_sectors, 0);
    ck_assert_str_eq(host.name, "entry");
    for (int i = 0; i < 2; i++) { /* the variable starts at zero again */
        replay(r, "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", out);
        ck_assert_str_eq(out, "iptuccccccccccccccccccccccccccc\1");
    }
    replay(r, "0123456701234567012345670123456-", out);
    ck_assert_str_eq(out, "iptu678923456789234567892345678\1");
    ck_assert_uint_eq(f.launch_count, 9);
    recording_free(r);
}
END_TEST

static int statuses[10];

static void forbidden_entry(const struct wb_arg *args) {
    uint64_t in = args[0].value, out = args[1].value;
    struct wb_rep_alloc_shared m;
    statuses[0] = REQUEST(&f, read, (&(struct wb_req_read){in, 4, 4, 1, 0}), NULL);
    statuses[1] =
        REQUEST(&f, read, (&(struct wb_req_read){FAKE_BASE, 4, 4, 1, 0}), NULL); /* a symbol */
    statuses[2] = REQUEST(&f, write, (&(struct wb_req_write){out, 4, 4, 1, 0}), NULL);
    statuses[3] = REQUEST(&f, write, (&(struct wb_req_write){in + 28, 4, 4, 1, 0}), NULL);
    statuses[4] = REQUEST(&f, free, &(struct wb_req_free){.address = out}, NULL);
    statuses[5] = REQUEST(&f, alloc_shared, &(struct wb_req_alloc_shared){.bytes = 4}, &m);
    struct wb_rep_hello h;
    statuses[6] =
        REQUEST(&f, hello, (&(struct wb_req_hello){wb_version(), 99}), &h); /* frees nothing here */
    statuses[7] = fixture_launch(&f, host.add, 32, out, 32);
    statuses[8] = REQUEST(&f, reset, NULL, NULL);
    statuses[9] = REQUEST(&f, heap, &(struct wb_req_heap){1 << 30}, NULL);
}

START_TEST(forbidden_calls_are_rejected_while_grading) {
    struct server_outcome o;
    struct recording *r = recorded(forbidden_entry, &o);
    ck_assert_ptr_nonnull(r);
    for (int i = 0; i < 6; i++) ck_assert_int_eq(statuses[i], WB_cudaErrorNotPermitted);
    ck_assert_int_eq(statuses[6], 0);
    ck_assert_int_eq(statuses[7], 0);
    ck_assert_int_eq(statuses[8], WB_cudaErrorNotPermitted);
    ck_assert_int_eq(statuses[9], WB_cudaErrorNotPermitted);
    ck_assert_int_eq(o.error, WB_cudaErrorNotPermitted);
    ck_assert_str_eq(o.call_name, "read");
    ck_assert_ptr_nonnull(strstr(o.reason, "must not read device memory back"));
    ck_assert_uint_eq(f.note_count, 7);
    ck_assert_uint_eq(recording_launches(r), 1);
    recording_free(r);
}
END_TEST

/* ---- buffers in the host's memory ---- */

static uint32_t clocks[2][WB_MAX_STREAMS]; /* what comes before the next command; what the host
                                              knows to be done */

static void order(uint32_t stream, uint32_t number) {
    clocks[0][stream] = number;
    POST(&f, order, (&(struct wb_req_order){.stream = stream, .number = number}), clocks,
         sizeof clocks);
    memset(clocks, 0, sizeof clocks);
}

/* In two halves: in, work, out; each in a stream of its own, or all in one. */
static unsigned halves_in;
static void halves_entry(const struct wb_arg *args) {
    uint64_t in = args[0].value, out = args[1].value, t = fixture_alloc(&f, 32);
    for (uint32_t k = 0; k < 2; k++) {
        uint32_t s = 2 + k % halves_in, at = 16 * k, n = halves_in == 1 ? 3 * k : 0;
        order(s, n + 1);
        ck_assert_int_eq(
            REQUEST(&f, copy, (&(struct wb_req_copy){t + at, 16, in + at, 16, 16, 1}), NULL), 0);
        order(s, n + 2);
        ck_assert_int_eq(fixture_launch(&f, host.add, 32, t + at, 16), 0);
        order(s, n + 3);
        ck_assert_int_eq(
            REQUEST(&f, copy, (&(struct wb_req_copy){out + at, 16, t + at, 16, 16, 1}), NULL), 0);
    }
}

static void check_halves(unsigned streams, uint64_t path) {
    struct server_outcome o;
    char out[33] = {0};
    host.owns = true, halves_in = streams;
    struct recording *r = recorded(halves_entry, &o);
    ck_assert_ptr_nonnull(r);
    ck_assert_msg(o.error == 0, "%s", o.reason);
    struct server_transfers m = recording_transfers(f.server, r);
    ck_assert_uint_eq(m.bus_bytes_in, 32);
    ck_assert_uint_eq(m.bus_bytes_out, 32);
    ck_assert_uint_eq(m.copied_bytes + m.copied_sectors_read,
                      0); /* they are not within the device */
    ck_assert_uint_eq(m.bus_critical_path_bytes, path);
    replay(r, "0123456701234567012345670123456-", out);
    ck_assert_str_eq(out, "1234567812345678123456781234567.");
    recording_free(r);
}

START_TEST(host_buffer_copies_in_one_stream_do_not_overlap) { check_halves(1, 64); }
END_TEST
START_TEST(host_buffer_copies_in_two_streams_overlap) {
    check_halves(2, 48);
} /* in, in beside out, out */
END_TEST

/* Commands without a known order must not be modelled as overlapping. */
static void unordered_entry(const struct wb_arg *args) {
    uint64_t in = args[0].value, out = args[1].value, t = fixture_alloc(&f, 32);
    for (uint32_t k = 0; k < 2; k++) {
        order(2 + k, k);
        REQUEST(&f, copy, (&(struct wb_req_copy){t + 16 * k, 16, in + 16 * k, 16, 16, 1}), NULL);
        REQUEST(&f, copy, (&(struct wb_req_copy){out + 16 * k, 16, t + 16 * k, 16, 16, 1}), NULL);
    }
}

START_TEST(unordered_host_buffer_copies_are_charged_serially) {
    struct server_outcome o;
    host.owns = true;
    struct recording *r = recorded(unordered_entry, &o);
    ck_assert_uint_eq(recording_transfers(f.server, r).bus_critical_path_bytes, 64);
    recording_free(r);
}
END_TEST

static void inspecting_entry(const struct wb_arg *args) {
    uint64_t in = args[0].value, out = args[1].value;
    statuses[0] = REQUEST(&f, read, (&(struct wb_req_read){in, 4, 4, 1, 0}), NULL);
    statuses[1] = REQUEST(&f, write, (&(struct wb_req_write){out, 4, 4, 1, 0}), NULL);
    statuses[2] = REQUEST(&f, free, &(struct wb_req_free){.address = out}, NULL);
    statuses[3] = REQUEST(&f, fill, (&(struct wb_req_fill){out, 32, 32, 1, 0, 0}), NULL);
    statuses[4] = REQUEST(&f, copy, (&(struct wb_req_copy){out, 32, in, 32, 32, 1}), NULL);
}

START_TEST(host_buffers_allow_only_copies) {
    struct server_outcome o;
    host.owns = true;
    struct recording *r = recorded(inspecting_entry, &o);
    for (int i = 0; i < 5; i++) ck_assert_int_eq(statuses[i], WB_cudaErrorNotPermitted);
    recording_free(r);
}
END_TEST

static void faulty_entry(const struct wb_arg *args) {
    fixture_launch(&f, host.fault, 32, args[0].value, 1);
    fixture_launch(&f, host.add, 32, args[0].value, 1);
}

START_TEST(a_fault_ends_the_replay) {
    struct server_outcome o;
    struct err e = {0};
    struct recording *r = recorded(faulty_entry, &o);
    ck_assert_int_eq(o.error, 0);
    ck_assert(server_replay(f.server, r, 0, 0, &o, &e));
    ck_assert_int_eq(o.fault, WB_cudaErrorIllegalAddress);
    ck_assert_uint_eq(f.launch_count, 1); /* nothing runs after it */
    ck_assert(server_restart(f.server, &e));
    ck_assert(server_replay(f.server, r, 0, 0, &o, &e));
    ck_assert_int_eq(o.fault, WB_cudaErrorIllegalAddress);
    recording_free(r);
}
END_TEST

static void flooding_entry(const struct wb_arg *args) {
    uint64_t t = fixture_alloc(&f, 4096);
    (void)args;
    for (int i = 0; i < 10; i++)
        if (REQUEST(&f, write, (&(struct wb_req_write){t, 4096, 4096, 1, 0}), NULL)) return;
}
static void endless_entry(const struct wb_arg *args) {
    while (fixture_launch(&f, host.add, 32, args[0].value, 1) == 0) {}
}

START_TEST(recordings_beyond_the_limits_end) {
    struct server_outcome o;
    struct recording *r = recorded(_i ? endless_entry : flooding_entry, &o);
    ck_assert_ptr_null(r);
    ck_assert_int_eq(o.end_reason, SERVER_LIMIT);
}
END_TEST

UNIT_SUITE(server) {
    Suite *suite = suite_create("server");
    TCase *plain = tcase_create("programs"), *grading = tcase_create("grading");
    tcase_add_checked_fixture(plain, open_fixture, close_all);
    tcase_add_test(plain, errors_are_sticky);
    tcase_add_test(plain, a_version_mismatch_is_detected_by_hello);
    tcase_add_test(plain, replies_carry_device_time_and_output_flag);
    tcase_add_checked_fixture(grading, open_grading, close_all);
    tcase_add_test(grading, a_recording_replays_its_calls);
    tcase_add_test(grading, copies_and_fills_of_a_recording_are_counted);
    tcase_add_test(grading, synchronizing_calls_and_temporary_bytes_of_a_recording_are_counted);
    tcase_add_test(grading, forbidden_calls_are_rejected_while_grading);
    tcase_add_test(grading, host_buffer_copies_in_one_stream_do_not_overlap);
    tcase_add_test(grading, host_buffer_copies_in_two_streams_overlap);
    tcase_add_test(grading, unordered_host_buffer_copies_are_charged_serially);
    tcase_add_test(grading, host_buffers_allow_only_copies);
    tcase_add_test(grading, a_fault_ends_the_replay);
    tcase_add_loop_test(grading, recordings_beyond_the_limits_end, 0, 2);
    suite_add_tcase(suite, plain);
    suite_add_tcase(suite, grading);
    return suite;
}
