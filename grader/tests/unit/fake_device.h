/* fake_device.h — a device of 1 MiB without a simulator behind it, and a client that speaks the
 * protocol by hand: for tests of the server itself. Kernel "add" adds 1 to each of n bytes at p
 * (parameters: u64 p, u64 n); kernel "fault" poisons the context. Both write a line
 * of output. "count" does as "add", and "set" sets the bytes to 7, each in a millisecond and
 * without output. The module image must start with "FAKE"; its variable "v" has 16 bytes. */
#pragma once
#include "grader/server/server.h"

#include <pthread.h>

enum { FAKE_BASE = 0x10000, FAKE_BYTES = 1 << 20 };

struct backend *fake_device(void);
/* Returns how many launches have run on a fake device. */
unsigned fake_launch_count(struct backend *b);

/* A server on a fake device, served by a thread of its own. */
struct fixture {
    struct server *server;
    pthread_t thread;
    enum server_end_reason end;
    uint8_t *window;
    size_t window_bytes;
    uint32_t seq;
    unsigned note_count;
    char note[512];
    unsigned launch_count;
};

void fixture_open(struct fixture *f, struct server_options o, bool has_thread);
/* Hangs up and waits for the server's thread. */
void fixture_close(struct fixture *f);

/* Sends any bytes; returns the size of the reply in `frame`, which holds WB_FRAME_BYTES bytes, or 0
 * if the server hung up. */
size_t fixture_raw(struct fixture *f, const void *bytes, size_t size, void *frame);
/* Returns the reply's status, -1 = hung up. */
int fixture_request(struct fixture *f, enum wb_op op, const void *q, size_t nq, const void *tail,
                    size_t ntail, void *p, size_t np);

/* Sends a message that is not answered. */
void fixture_post(struct fixture *f, enum wb_op op, const void *q, size_t nq, const void *tail,
                  size_t ntail);
#define POST(f, name, q, tail, ntail) \
    fixture_post(f, WB_OP_##name, q, sizeof(struct wb_req_##name), tail, ntail)
#define REQUEST(f, name, q, p)                                                    \
    fixture_request(f, WB_OP_##name, q, sizeof(struct wb_req_##name), NULL, 0, p, \
                    sizeof(struct wb_rep_##name))
#define REQUEST_TAIL(f, name, q, p, tail, ntail)                                      \
    fixture_request(f, WB_OP_##name, q, sizeof(struct wb_req_##name), tail, ntail, p, \
                    sizeof(struct wb_rep_##name))

uint64_t fixture_alloc(struct fixture *f, uint64_t bytes);
/* Loads the fake module and finds a kernel in it. */
uint64_t fixture_kernel(struct fixture *f, const char *name);
int fixture_launch(struct fixture *f, uint64_t kernel, uint32_t threads, uint64_t p, uint64_t n);
