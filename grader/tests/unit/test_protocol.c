/* test_protocol.c — tests the device server against a client that breaks the protocol: sizes,
 * handles, ranges, floods. */
#include "grader/tests/unit/fake_device.h"
#include "grader/tests/unit/unit.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct fixture f;
static void open_fixture(void) { fixture_open(&f, (struct server_options){0}, true); }
static void close_all(void) { fixture_close(&f); }

static int write_bytes(uint64_t address, uint64_t pitch, uint64_t width, uint64_t rows) {
    return REQUEST(&f, write, (&(struct wb_req_write){address, pitch, width, rows, 0}), NULL);
}
static int read_bytes(uint64_t address, uint64_t pitch, uint64_t width, uint64_t rows) {
    return REQUEST(&f, read, (&(struct wb_req_read){address, pitch, width, rows, 0}), NULL);
}

START_TEST(written_bytes_are_read_back) {
    uint64_t p = fixture_alloc(&f, 100);
    memcpy(f.window, "forty-two", 9);
    ck_assert_int_eq(write_bytes(p + 5, 9, 9, 1), 0);
    memset(f.window, 0, 9);
    ck_assert_int_eq(read_bytes(p + 5, 9, 9, 1), 0);
    ck_assert_mem_eq(f.window, "forty-two", 9);
}
END_TEST

START_TEST(pitched_copies_move_rows) {
    uint64_t p = fixture_alloc(&f, 40);
    ck_assert_int_eq(REQUEST(&f, fill, (&(struct wb_req_fill){p, 40, 40, 1, '.', 0}), NULL), 0);
    memcpy(f.window, "abcdef", 6);
    ck_assert_int_eq(write_bytes(p + 1, 10, 2, 3), 0);
    ck_assert_int_eq(read_bytes(p, 24, 24, 1), 0);
    ck_assert_mem_eq(f.window, ".ab........cd........ef.", 24);
    ck_assert_int_eq(read_bytes(p + 2, 10, 1, 3), 0);
    ck_assert_mem_eq(f.window, "bdf", 3);
}
END_TEST

static int synchronise(void) { return REQUEST(&f, sync, (&(struct wb_req_sync){0}), NULL); }

/* Posted commands run in order, without a reply; a later request gets its own reply. */
START_TEST(posted_messages_run_in_order_without_a_reply) {
    uint64_t p = fixture_alloc(&f, 64), add = fixture_kernel(&f, "add"), params[2] = {p, 8};
    struct wb_req_launch q = {.kernel = add,
                              .grid_x = 1,
                              .grid_y = 1,
                              .grid_z = 1,
                              .block_x = 8,
                              .block_y = 1,
                              .block_z = 1};
    POST(&f, fill, (&(struct wb_req_fill){p, 64, 64, 1, 'a', 0}), NULL, 0);
    POST(&f, launch, &q, params, sizeof params);
    POST(&f, copy, (&(struct wb_req_copy){p + 8, 4, p + 6, 4, 4, 1}), NULL, 0);
    POST(&f, write, (&(struct wb_req_write){p + 16, 3, 3, 1, 0}), "xyz", 3);
    POST(&f, launch, &q, params, sizeof params);
    ck_assert_int_eq(read_bytes(p, 20, 20, 1), 0);
    ck_assert_mem_eq(f.window, "ccccccccbbaaaaaaxyza", 20);
    ck_assert_uint_eq(f.launch_count, 2);
    const struct wb_progress *far = (const void *)(f.window + f.window_bytes);
    ck_assert_int_eq(synchronise(), 0);
    for (int i = 0; i < 1000 && far->done_seq != f.seq; i++)
        usleep(1000); /* done_seq changes after the reply */
    ck_assert_uint_eq(far->done_seq, f.seq);
}
END_TEST

/* The first error of a posted command is the reply to the next synchronization, once. */
START_TEST(the_first_posted_error_is_returned_by_the_next_sync) {
    uint64_t p = fixture_alloc(&f, 16);
    POST(&f, fill, (&(struct wb_req_fill){p, 17, 17, 1, 'a', 0}), NULL, 0);
    POST(&f, free, (&(struct wb_req_free){.address = p}), NULL, 0);
    POST(&f, free, (&(struct wb_req_free){.address = p + 1}), NULL, 0);
    ck_assert_int_eq(write_bytes(p, 1, 1, 1), WB_cudaErrorInvalidValue);
    ck_assert_int_eq(synchronise(), WB_cudaErrorInvalidValue);
    ck_assert_int_eq(synchronise(), 0);
}
END_TEST

/* A tail must be as long as its rows. */
START_TEST(a_tail_must_match_its_rows) {
    uint64_t p = fixture_alloc(&f, 64);
    static const char bytes[40] = "0123456789";
    ck_assert_int_eq(
        REQUEST_TAIL(&f, write, (&(struct wb_req_write){p, 8, 4, 2, 0}), NULL, bytes, 8), 0);
    ck_assert_int_eq(
        REQUEST_TAIL(&f, write, (&(struct wb_req_write){p, 8, 4, 2, 0}), NULL, bytes, 7),
        WB_cudaErrorInvalidValue);
    ck_assert_int_eq(
        REQUEST_TAIL(&f, write, (&(struct wb_req_write){p, 8, 4, 2, 0}), NULL, bytes, 9),
        WB_cudaErrorInvalidValue);
    ck_assert_int_eq(read_bytes(p, 4, 4, 1), 0);
    ck_assert_mem_eq(f.window, "0123", 4);
}
END_TEST

/* Only commands that the table allows may be posted; events have bounds; a device without a
 * simulator shares no memory. */
START_TEST(only_one_way_messages_may_be_posted) {
    struct wb_rep_event_time t;
    struct wb_rep_alloc_shared shared;
    ck_assert_int_eq(REQUEST(&f, event, &(struct wb_req_event){.event = WB_MAX_EVENTS}, NULL),
                     WB_cudaErrorInvalidValue);
    ck_assert_int_eq(REQUEST(&f, event_time, &(struct wb_req_event_time){.event = UINT32_MAX}, &t),
                     WB_cudaErrorInvalidValue);
    ck_assert_int_eq(REQUEST(&f, event_time, &(struct wb_req_event_time){.event = 7}, &t), 0);
    ck_assert_uint_eq(t.time_ns, 0);
    ck_assert_int_ne(REQUEST(&f, alloc_shared, &(struct wb_req_alloc_shared){.bytes = 4}, &shared),
                     0);
    POST(&f, alloc, (&(struct wb_req_alloc){.bytes = 4}), NULL, 0);
    pthread_join(f.thread, NULL);
    f.thread = 0;
    ck_assert_int_eq(f.end, SERVER_CLOSED);
}
END_TEST

START_TEST(out_of_range_copies_are_rejected) {
    uint64_t p = fixture_alloc(&f, 100), big = UINT64_MAX;
    ck_assert_int_eq(write_bytes(p, 101, 101, 1), WB_cudaErrorInvalidValue);
    ck_assert_int_eq(write_bytes(p + 99, 1, 1, 2), WB_cudaErrorInvalidValue);
    ck_assert_int_eq(write_bytes(p, 50, 1, 4), WB_cudaErrorInvalidValue);
    ck_assert_int_eq(write_bytes(p, 1, 2, 2), WB_cudaErrorInvalidPitchValue);
    ck_assert_int_eq(write_bytes(p, big, big, big), WB_cudaErrorInvalidPitchValue);
    ck_assert_int_eq(write_bytes(big, 1, 1, 1), WB_cudaErrorInvalidValue);
    ck_assert_int_eq(write_bytes(0, 4, 4, 1), WB_cudaErrorInvalidValue);
    ck_assert_int_eq(write_bytes(p, 0, 0, big), 0); /* nothing, at once */
    ck_assert_int_eq(read_bytes(p, big, 0, big), 0);
    ck_assert_int_eq(read_bytes(p - 1, 4, 4, 1), WB_cudaErrorInvalidValue);
    ck_assert_int_eq(REQUEST(&f, copy, (&(struct wb_req_copy){p, 10, p + 95, 10, 10, 1}), NULL),
                     WB_cudaErrorInvalidValue);
    ck_assert_int_eq(REQUEST(&f, free, &(struct wb_req_free){.address = p + 1}, NULL),
                     WB_cudaErrorInvalidValue);
    ck_assert_int_eq(REQUEST(&f, free, &(struct wb_req_free){.address = p}, NULL), 0);
    ck_assert_int_eq(REQUEST(&f, free, &(struct wb_req_free){.address = p}, NULL),
                     WB_cudaErrorInvalidValue);
}
END_TEST

/* The window is smaller than the device's memory: a message may not reach past it. */
START_TEST(messages_cannot_reach_past_the_window) {
    uint64_t p = fixture_alloc(&f, 128 << 10);
    ck_assert_int_eq(write_bytes(p, 65536, 65536, 1), 0);
    ck_assert_int_eq(write_bytes(p, 65537, 65537, 1), WB_cudaErrorInvalidValue);
    ck_assert_int_eq(read_bytes(p, 65537, 65537, 1), WB_cudaErrorInvalidValue);
    ck_assert_int_eq(REQUEST(&f, write, (&(struct wb_req_write){p, 1, 1, 1, 65535}), NULL), 0);
    ck_assert_int_eq(REQUEST(&f, write, (&(struct wb_req_write){p, 1, 1, 1, 65536}), NULL),
                     WB_cudaErrorInvalidValue);
    ck_assert_int_eq(REQUEST(&f, read, (&(struct wb_req_read){p, 2, 2, 1, 65535}), NULL),
                     WB_cudaErrorInvalidValue);
    ck_assert_int_eq(REQUEST(&f, read, (&(struct wb_req_read){p, 1, 1, 1, UINT64_MAX}), NULL),
                     WB_cudaErrorInvalidValue);
    ck_assert_int_eq(REQUEST(&f, upload, (&(struct wb_req_upload){0, 65537, 70000}), NULL),
                     WB_cudaErrorInvalidValue);
    ck_assert_int_eq(REQUEST(&f, upload, (&(struct wb_req_upload){UINT64_MAX, 2, 10}), NULL),
                     WB_cudaErrorInvalidValue);
    ck_assert_int_eq(REQUEST(&f, upload, (&(struct wb_req_upload){0, 0, UINT64_MAX}), NULL),
                     WB_cudaErrorMemoryAllocation);
}
END_TEST

START_TEST(unknown_handles_are_rejected) {
    struct wb_rep_kernel_find k;
    ck_assert_int_eq(REQUEST_TAIL(&f, kernel_find, &(struct wb_req_kernel_find){1}, &k, "add", 3),
                     WB_cudaErrorInvalidResourceHandle);
    uint64_t add = fixture_kernel(&f, "add");
    ck_assert_uint_eq(add, 1);
    ck_assert_int_eq(REQUEST_TAIL(&f, kernel_find, &(struct wb_req_kernel_find){1}, &k, "sub", 3),
                     WB_cudaErrorInvalidDeviceFunction);
    ck_assert_int_eq(REQUEST_TAIL(&f, kernel_find, &(struct wb_req_kernel_find){1}, &k, "a\0d", 3),
                     WB_cudaErrorInvalidValue);
    ck_assert_int_eq(fixture_launch(&f, 2, 1, 0, 0), WB_cudaErrorInvalidDeviceFunction);
    ck_assert_int_eq(fixture_launch(&f, 0, 1, 0, 0), WB_cudaErrorInvalidDeviceFunction);
    ck_assert_int_eq(fixture_launch(&f, UINT64_MAX, 1, 0, 0), WB_cudaErrorInvalidDeviceFunction);
    ck_assert_int_eq(REQUEST(&f, module_unload, &(struct wb_req_module_unload){1}, NULL), 0);
    ck_assert_int_eq(fixture_launch(&f, add, 1, 0, 0), WB_cudaErrorInvalidDeviceFunction);
    ck_assert_int_eq(REQUEST(&f, module_unload, &(struct wb_req_module_unload){1}, NULL),
                     WB_cudaErrorInvalidResourceHandle);
}
END_TEST

START_TEST(parameters_of_the_wrong_size_are_rejected) {
    uint64_t add = fixture_kernel(&f, "add");
    struct wb_req_launch q = {.kernel = add,
                              .grid_x = 1,
                              .grid_y = 1,
                              .grid_z = 1,
                              .block_x = 1,
                              .block_y = 1,
                              .block_z = 1};
    uint8_t tail[WB_PARAM_BYTES + 1] = {0};
    ck_assert_int_eq(REQUEST_TAIL(&f, launch, &q, NULL, tail, 15), WB_cudaErrorInvalidValue);
    ck_assert_int_eq(REQUEST_TAIL(&f, launch, &q, NULL, tail, 17), WB_cudaErrorInvalidValue);
    ck_assert_int_eq(REQUEST_TAIL(&f, launch, &q, NULL, tail, sizeof tail),
                     WB_cudaErrorInvalidValue);
    ck_assert_int_eq(fixture_launch(&f, add, 2048, 0, 0), WB_cudaErrorInvalidConfiguration);
    q.dynamic_shared = 1ull << 40;
    ck_assert_int_eq(REQUEST_TAIL(&f, launch, &q, NULL, tail, 16), WB_cudaErrorInvalidValue);
}
END_TEST

/* A launch gets 48 KiB by default, then what it has requested, at most what a block can have. */
START_TEST(dynamic_shared_memory_needs_an_opt_in_above_48_kib) {
    uint64_t add = fixture_kernel(&f, "add"), p = fixture_alloc(&f, 16);
    uint64_t params[2] = {p, 16};
    struct wb_req_launch q = {.kernel = add,
                              .grid_x = 1,
                              .grid_y = 1,
                              .grid_z = 1,
                              .block_x = 1,
                              .block_y = 1,
                              .block_z = 1,
                              .dynamic_shared = 48 << 10};
    ck_assert_int_eq(REQUEST_TAIL(&f, launch, &q, NULL, params, 16), 0);
    q.dynamic_shared++;
    ck_assert_int_eq(REQUEST_TAIL(&f, launch, &q, NULL, params, 16), WB_cudaErrorInvalidValue);
    ck_assert_ptr_nonnull(strstr(f.note, "cudaFuncAttributeMaxDynamicSharedMemorySize"));
    ck_assert_int_eq(REQUEST(&f, kernel_limit, (&(struct wb_req_kernel_limit){add, 99000}), NULL),
                     0);
    ck_assert_int_eq(REQUEST_TAIL(&f, launch, &q, NULL, params, 16), 0);
    ck_assert_int_eq(REQUEST(&f, kernel_limit, (&(struct wb_req_kernel_limit){add, 99001}), NULL),
                     WB_cudaErrorInvalidValue);
}
END_TEST

static size_t raw(uint32_t op, uint32_t claimed, size_t size) {
    _Alignas(8) static uint8_t out[1 << 16], in[WB_FRAME_BYTES];
    struct wb_header h = {.op = op, .size = claimed};
    memset(out, 0xa5, sizeof out);
    memcpy(out, &h, sizeof h);
    return fixture_raw(&f, out, size, in);
}

/* Invalid frames end the connection; a truncated message is an error. */
START_TEST(malformed_frames_close_the_connection) {
    ck_assert_uint_gt(raw(WB_OP_alloc, sizeof(struct wb_header), sizeof(struct wb_header)), 0);
    static const struct {
        uint32_t op, claimed;
        size_t size;
    } bad[] = {
        {WB_OP_COUNT, sizeof(struct wb_header), sizeof(struct wb_header)},
        {UINT32_MAX, sizeof(struct wb_header), sizeof(struct wb_header)},
        {WB_OP_sync, 1000, sizeof(struct wb_header)},
        {WB_OP_sync, 0, 7},
        {WB_OP_sync, WB_FRAME_BYTES + 8, WB_FRAME_BYTES + 8},
    };
    for (unsigned i = 0; i < sizeof bad / sizeof *bad; i++) {
        ck_assert_uint_eq(raw(bad[i].op, bad[i].claimed, bad[i].size), 0);
        close_all();
        open_fixture();
    }
}
END_TEST

/* For arbitrary bytes, every frame gets a reply or the connection ends; ASan checks the fake's
 * bounds. */
START_TEST(random_frames_are_answered_or_close_the_connection) {
    _Alignas(8) uint8_t out[512], in[WB_FRAME_BYTES];
    srandom((unsigned)_i + 1);
    fixture_kernel(&f, "add");
    fixture_alloc(&f, 1000);
    unsigned answered = 0;
    for (unsigned n = 0; n < 4000; n++) {
        size_t size =
            sizeof(struct wb_header) + (size_t)random() % (sizeof out - sizeof(struct wb_header));
        for (size_t i = 0; i < size; i++)
            out[i] = random() % 3 ? (uint8_t)random() % 4 : (uint8_t)random();
        struct wb_header h = {.op = (uint32_t)random() % WB_OP_COUNT, .size = (uint32_t)size};
        memcpy(out, &h, sizeof h);
        uint64_t near = FAKE_BASE + 64 + (uint64_t)random() % 1024;
        if (random() % 2) memcpy(out + sizeof h, &near, sizeof near);
        if (!fixture_raw(&f, out, size, in)) {
            close_all();
            open_fixture();
        } else answered++;
    }
    ck_assert_uint_gt(answered, 3000);
}
END_TEST

START_TEST(the_message_limit_ends_the_server) {
    close_all();
    fixture_open(&f, (struct server_options){.max_messages = 3}, true);
    for (int i = 0; i < 3; i++)
        ck_assert_int_eq(REQUEST(&f, sync, (&(struct wb_req_sync){0}), NULL), 0);
    ck_assert_int_eq(REQUEST(&f, sync, (&(struct wb_req_sync){0}), NULL), -1);
    pthread_join(f.thread, NULL);
    f.thread = 0;
    ck_assert_int_eq(f.end, SERVER_LIMIT);
}
END_TEST

START_TEST(a_silent_client_hits_the_deadline) {
    close_all();
    fixture_open(&f, (struct server_options){0}, false);
    double start = server_now();
    ck_assert_int_eq(server_serve(f.server, start + 0.05, -1), SERVER_DEADLINE);
    ck_assert_double_lt(server_now() - start, 5);
}
END_TEST

UNIT_SUITE(protocol) {
    Suite *suite = suite_create("protocol");
    TCase *tc = tcase_create("hostile client");
    tcase_add_checked_fixture(tc, open_fixture, close_all);
    tcase_set_timeout(tc, 30);
    tcase_add_test(tc, written_bytes_are_read_back);
    tcase_add_test(tc, pitched_copies_move_rows);
    tcase_add_test(tc, out_of_range_copies_are_rejected);
    tcase_add_test(tc, messages_cannot_reach_past_the_window);
    tcase_add_test(tc, posted_messages_run_in_order_without_a_reply);
    tcase_add_test(tc, the_first_posted_error_is_returned_by_the_next_sync);
    tcase_add_test(tc, a_tail_must_match_its_rows);
    tcase_add_test(tc, only_one_way_messages_may_be_posted);
    tcase_add_test(tc, unknown_handles_are_rejected);
    tcase_add_test(tc, parameters_of_the_wrong_size_are_rejected);
    tcase_add_test(tc, dynamic_shared_memory_needs_an_opt_in_above_48_kib);
    tcase_add_test(tc, malformed_frames_close_the_connection);
    tcase_add_loop_test(tc, random_frames_are_answered_or_close_the_connection, 0, 4);
    tcase_add_test(tc, the_message_limit_ends_the_server);
    tcase_add_test(tc, a_silent_client_hits_the_deadline);
    suite_add_tcase(suite, tc);
    return suite;
}
