/* client.h — the runtime's end of the protocol: one connection a process, shared by its threads.
 *
 *   struct wb_rep_alloc p;
 *   int error = wb_request(alloc, &(struct wb_req_alloc){.bytes = n}, &p);
 *
 * A request that uses the window is made between wb_lock and wb_unlock, together with filling or
 * emptying it; the lock may be taken again by the thread that holds it. */
#pragma once
#include "grader/server/protocol.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct wb_session {
    uint64_t base, span; /* range of device addresses */
    uint8_t *window;
    uint64_t window_bytes;
    uint64_t shared_bytes;  /* bytes of shared memory from `base` on; 0 = none */
    int shared_fd;          /* offset in the file */
    uint64_t shared_offset; /* of the first */
    bool grading;
    bool sanitize; /* Report host accesses that come too early. */
    unsigned ndevices;
    unsigned link; /* between them: WB_LINK_… */
};

/* Connects at the first call. Returns NULL with a cudaError_t in `*error` if there is no device. */
const struct wb_session *wb_session(int *error);

/* The device of this thread's calls and messages, initially 0. The second returns it and sets
 * another one. */
unsigned wb_current_device(void);
unsigned wb_exchange_device(unsigned device);

struct wb_call {
    enum wb_op op;
    const void *request, *tail;
    size_t request_size, tail_size;
    void *reply;
    size_t reply_size;
    void *out; /* buffer for the reply's tail, or NULL */
    size_t out_capacity, out_size;
};

/* Returns the reply's status. */
int wb_exchange(struct wb_call *c);
/* Sends a message without waiting for a reply. Only for messages that may be posted and are known
 * to be valid. */
int wb_send(const struct wb_call *c);
/* The number of the last message sent; true if the server has executed the message with that
 * number; the error that poisons the contexts, as far as known without a request. */
uint32_t wb_last_seq(void);
bool wb_is_done(uint32_t seq);
/* Polls until it has, with pauses. Returns false if the connection is lost. */
bool wb_wait_done(uint32_t seq, void (*backoff)(unsigned round));
int wb_sticky_error(void);
/* Returns, and clears, the last error with which the device refused a request of this thread. */
int wb_take_request_error(void);
/* Declares, during an entry's call, a range of device addresses as the exercise's host memory. 0
 * bytes = the end. */
void wb_set_host_buffer(uint64_t start, uint64_t bytes);
/* Finds the range that holds the address, or returns false. Takes no lock, for signal handlers. */
bool wb_find_host_buffer(uint64_t address, uint64_t *start, uint64_t *bytes);
bool wb_has_host_buffers(void);
/* Returns true if the program has done more with the device than query it. */
bool wb_context_is_active(void);
void wb_activate_context(void);
uint64_t wb_time_ns(void);    /* device time, as of the last reply */
bool wb_output_pending(void); /* device printf has written something */
void wb_lock(void);
void wb_unlock(void);

/* While a sink is set, this thread's commands (launches, copies, fills, writes) go to it instead of
 * the device. NULL = none. */
typedef int wb_call_sink(const struct wb_call *c, void *user);
void wb_set_call_sink(wb_call_sink *sink, void *user);
bool wb_has_call_sink(void);

#define wb_post(name, q) wb_post_tail(name, q, NULL, 0)
#define wb_post_tail(name, q, text, ntext)                                  \
    wb_send(&(struct wb_call){.op = WB_OP_##name,                           \
                              .request = (const struct wb_req_##name *){q}, \
                              .request_size = sizeof(struct wb_req_##name), \
                              .tail = text,                                 \
                              .tail_size = ntext})
#define wb_request(name, q, p) wb_request_tail(name, q, p, NULL, 0, NULL, 0)
#define wb_request_tail(name, q, p, text, ntext, room, nroom)                   \
    wb_exchange(&(struct wb_call){.op = WB_OP_##name,                           \
                                  .request = (const struct wb_req_##name *){q}, \
                                  .request_size = sizeof(struct wb_req_##name), \
                                  .tail = text,                                 \
                                  .tail_size = ntext,                           \
                                  .reply = (struct wb_rep_##name *){p},         \
                                  .reply_size = sizeof(struct wb_rep_##name),   \
                                  .out = room,                                  \
                                  .out_capacity = nroom})
