/* fuzz_protocol.c — fuzzes the message protocol with any sequence of frames, on a device without
 * a simulator. Input: a first byte (grading or not), then messages: op, length (one byte), that
 * many bytes of request and tail. The target provides what the fuzzer can't guess: an
 * allocation, a loaded module, two kernels. */
#include "grader/tests/fuzz/fuzz.h"
#include "grader/tests/unit/fake_device.h"

#include <string.h>
#include <sys/socket.h>

enum { MAX_MESSAGES = 64 };

static void send_frame(int fd, uint32_t op, const uint8_t *bytes, size_t n) {
    _Alignas(8) uint8_t frame[sizeof(struct wb_header) + 256] = {0};
    struct wb_header h = {.op = op, .size = (uint32_t)(sizeof h + n)};
    memcpy(frame, &h, sizeof h);
    memcpy(frame + sizeof h, bytes, n);
    send(fd, frame, h.size, MSG_DONTWAIT | MSG_NOSIGNAL);
}

static void send_setup(int fd, struct fixture *f) {
    memcpy(f->window, "FAKE", 4);
    uint64_t upload[] = {0, 4, 4}, load = 4, alloc = 4096;
    uint8_t find[11] = {1}, find_fault[13] = {1};
    memcpy(find + 8, "add", 3);
    memcpy(find_fault + 8, "fault", 5);
    send_frame(fd, WB_OP_upload, (const uint8_t *)upload, sizeof upload);
    send_frame(fd, WB_OP_module_load, (const uint8_t *)&load, sizeof load);
    send_frame(fd, WB_OP_kernel_find, find, sizeof find);
    send_frame(fd, WB_OP_kernel_find, find_fault, sizeof find_fault);
    send_frame(fd, WB_OP_alloc, (const uint8_t *)&alloc, sizeof alloc);
}

FUZZ(protocol) {
    if (!size) return 0;
    struct fixture f;
    struct err e = {0};
    struct recording *r = NULL;
    struct server_outcome o;
    fixture_open(
        &f,
        (struct server_options){.grading = data[0] & 1, .max_messages = 200, .max_launches = 100},
        false);
    int fd = server_client_socket(f.server);
    send_setup(fd, &f);
    if (data[0] & 1) {
        uint64_t ready = 0;
        send_frame(fd, WB_OP_next_call, (const uint8_t *)&ready, sizeof ready);
        if (!server_wait_ready(f.server, server_now() + 60, -1, &o)) __builtin_trap();
        if (!server_buffers(f.server, &(struct server_buffer){.name = "own", .bytes = 256}, 1, &e))
            __builtin_trap();
    }
    size_t at = 1;
    for (unsigned n = 0; n < MAX_MESSAGES && at + 2 <= size; n++) {
        size_t bytes = data[at + 1];
        if (bytes > size - at - 2) bytes = size - at - 2;
        send_frame(fd, data[at] % WB_OP_COUNT, data + at + 2, bytes);
        at += 2 + bytes;
    }
    shutdown(fd, SHUT_WR);
    double deadline = server_now() + 5;
    if (data[0] & 1) server_record(f.server, "entry", NULL, 0, deadline, -1, &r, &o);
    else server_serve(f.server, deadline, -1);
    if (server_now() >= deadline) __builtin_trap(); /* a hang */
    if (r) {
        if (!server_restart(f.server, &e) || !server_replay(f.server, r, 0, 0, &o, &e))
            __builtin_trap();
        recording_free(r);
    }
    fixture_close(&f);
    return 0;
}
