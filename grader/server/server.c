/* server.c — the device server's loop: receives a frame, checks its sizes, calls the message's
 * handler and sends the reply. The handlers are in memory.c, modules.c and launch.c; recordings in
 * record.c. */
#include "grader/server/repeats.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { DESPITE_ERROR = 1, RECORD = 2, QUERY = 4, ONE_WAY = 8 };

struct message_handler {
    const char *name;
    unsigned flags;
    size_t request, reply;
    int (*run)(struct server *s, const void *q, struct message_tail tail, void *p, struct buf *out);
};

#define MESSAGE(name, flags, request, reply)                                                  \
    static int run_##name(struct server *s, const void *q, struct message_tail tail, void *p, \
                          struct buf *out) {                                                  \
        return server_on_##name(s, q, tail, p, out);                                          \
    }
#include "grader/server/protocol.def"
#undef MESSAGE

static const struct message_handler handlers[WB_OP_COUNT] = {
#define MESSAGE(name, flags, request, reply)                                                    \
    [WB_OP_##name] = {#name, flags, sizeof(struct wb_req_##name), sizeof(struct wb_rep_##name), \
                      run_##name},
#include "grader/server/protocol.def"
#undef MESSAGE
};

const char *server_error_name(int error) {
    switch (error) {
#define X(name, code, text) \
    case code:              \
        return #name;
#include "grader/server/errors.def"
#undef X
    }
    return "unrecognized error code";
}

const char *server_error_text(int error) {
    switch (error) {
#define X(name, code, text) \
    case code:              \
        return text;
#include "grader/server/errors.def"
#undef X
    }
    return "unrecognized error code";
}

int server_refuse(struct server *s, int error, const char *format, ...) {
    va_list ap;
    va_start(ap, format);
    vsnprintf(s->note, sizeof s->note, format, ap);
    va_end(ap);
    if (s->options.on_note) s->options.on_note(s->options.user, s->note);
    return error;
}

bool server_tail_name(struct message_tail t, char *out, size_t size) {
    if (!t.size || t.size >= size || memchr(t.data, 0, t.size)) return false;
    memcpy(out, t.data, t.size);
    out[t.size] = 0;
    return true;
}

/* ---- the life of a server ---- */

struct server *server_open(struct backend *b, const struct server_options *o, struct err *e) {
    struct server *s = xcalloc(1, sizeof *s);
    s->backend = b;
    s->options = *o;
    if (!s->options.window_bytes) s->options.window_bytes = SERVER_WINDOW_BYTES;
    if (!s->options.max_recorded_bytes) s->options.max_recorded_bytes = 256 << 20;
    s->fd = s->client_fd = s->window_fd = -1;
    if (o->skip_repeats && b->ops->memory_state_hash) s->repeats = repeats_new();
    if (server_channel_open(s, e)) return s;
    server_close(s);
    return NULL;
}

void server_close(struct server *s) {
    if (!s) return;
    server_channel_close(s);
    server_modules_clear(s);
    free(s->kernels);
    repeats_free(s->repeats);
    free(s->upload);
    free(s->live_allocations);
    free(s->event_ns);
    server_clock_clear(s);
    for (unsigned i = 0; i < s->nproblem_buffers; i++) free(s->problem_buffers[i].name);
    recording_free(s->recording);
    server_graphs_clear(s);
    server_ipc_forget(s, 0);
    buf_free(&s->device_stdout);
    buf_free(&s->device_stderr);
    s->backend->ops->close(s->backend);
    free(s);
}

void server_append_leaks(const struct server *s, struct buf *out) {
    uint64_t bytes = 0;
    const struct live_allocation *first = NULL;
    if (!s->nlive_allocations) return;
    for (unsigned i = 0; i < s->live_slots; i++) {
        const struct live_allocation *a = &s->live_allocations[i];
        if (!a->address) continue;
        bytes += a->bytes;
        if (!first || a->number < first->number) first = a;
    }
    buf_printf(
        out,
        "%u allocation%s of %llu bytes in all not freed, the first: cudaMalloc #%u (%llu bytes)",
        s->nlive_allocations, s->nlive_allocations > 1 ? "s" : "", (unsigned long long)bytes,
        first->number, (unsigned long long)first->bytes);
}

struct backend *server_backend(struct server *s) {
    return s->backend;
}
int server_client_socket(const struct server *s) { return s->client_fd; }
int server_client_window(const struct server *s) { return s->window_fd; }

void server_close_client_end(struct server *s) {
    if (s->client_fd >= 0) close(s->client_fd);
    s->client_fd = -1;
}

void server_disconnect(struct server *s) { shutdown(s->fd, SHUT_RDWR); }

void server_context_clear(struct server *s, bool keep_variables) {
    const struct backend_ops *ops = s->backend->ops;
    if (s->has_shared_allocations && ops->export_pages) {
        server_ipc_forget(s, 0);
        ops->unshare_pages(s->backend);
    }
    (keep_variables ? ops->free_all : ops->reset)(s->backend);
    s->sticky_error = 0;
    s->has_shared_allocations = false;
    server_clear_devices(s);
    s->seconds = 0;
    s->launches = s->allocations = 0;
    s->graph_mailbox = 0;
    s->deferred_error = 0;
    server_exec_order(s, &(struct wb_req_order){0}, (struct message_tail){0}, false);
    /* The client outlives the context: an event must not carry a time from one call into the next.
     */
    free(s->event_ns), s->event_ns = NULL;
    server_clock_clear(s);
    server_clear_allocations(s);
    buf_clear(&s->device_stdout);
    buf_clear(&s->device_stderr);
}

/* ---- the loop ---- */

static void record_first_error(struct server *s, const struct message_handler *h, int status) {
    struct server_outcome *o = s->outcome;
    if (!o || o->error || !status || (h->flags & QUERY)) return;
    o->error = status;
    snprintf(o->call_name, sizeof o->call_name, "%s", h->name);
    snprintf(o->reason, sizeof o->reason, "%s", s->note);
}

static int dispatch(struct server *s, const uint8_t *frame, size_t size, void *reply,
                    struct buf *out) {
    const struct wb_header *q = (const void *)frame;
    const struct message_handler *h = &handlers[q->op];
    if (size < sizeof *q + h->request) return WB_cudaErrorInvalidValue;
    if (s->sticky_error && !(h->flags & DESPITE_ERROR)) return s->sticky_error;
    const uint8_t *fixed = frame + sizeof *q;
    struct message_tail tail = {fixed + h->request, size - sizeof *q - h->request};
    s->note[0] = 0;
    repeats_before_message(s, q->op);
    int status = h->run(s, fixed, tail, reply, out);
    record_first_error(s, h, status);
    return status;
}

static bool send_reply(struct server *s, const struct wb_header *q, int status, const void *fixed,
                       size_t nfixed, const struct buf *tail) {
    _Alignas(8) uint8_t frame[WB_FRAME_BYTES];
    struct wb_header *p = (void *)frame;
    if (sizeof *p + nfixed + tail->size > sizeof frame) die("device server: a reply too long");
    *p = (struct wb_header){
        .op = q->op,
        .seq = q->seq,
        .status = status,
        .flags = s->device_stdout.size || s->device_stderr.size ? WB_OUTPUT_PENDING : 0,
        .time_ns = (uint64_t)(s->seconds * 1e9 + 0.5),
        .size = (uint32_t)(sizeof *p + nfixed + tail->size),
    };
    if (nfixed) memcpy(frame + sizeof *p, fixed, nfixed);
    if (tail->size) memcpy(frame + sizeof *p + nfixed, tail->data, tail->size);
    return server_channel_send(s, frame, p->size);
}

/* A client that was built from another list of messages, whatever the size of its hello. */
static bool is_version_mismatch(const uint8_t *frame, size_t size) {
    const struct wb_header *q = (const void *)frame;
    uint32_t version = 0;
    if (q->op != WB_OP_hello) return false;
    if (size >= sizeof *q + sizeof version) memcpy(&version, frame + sizeof *q, sizeof version);
    return version != wb_version();
}

static bool is_one_way(const struct wb_header *q) { return q->flags & WB_ONE_WAY; }

/* Publishes progress in the shared page, and reads nothing from it. */
static void publish_progress(struct server *s, const struct wb_header *q) {
    atomic_store_explicit(&s->progress->error, (uint32_t)s->sticky_error, memory_order_relaxed);
    if (q->op != WB_OP_hello)
        atomic_store_explicit(&s->progress->done_seq, q->seq, memory_order_release);
}

/* Returns false if the connection should end. */
static bool handle_frame(struct server *s, const uint8_t *frame, size_t size) {
    const struct wb_header *q = (const void *)frame;
    if (size < sizeof *q || size > WB_FRAME_BYTES || q->size != size || q->op >= WB_OP_COUNT)
        return false;
    if (is_one_way(q) && !(handlers[q->op].flags & ONE_WAY)) return false;
    if (!server_select_device(s, q->device)) return false;
    _Alignas(8) uint8_t reply[256] = {0};
    struct buf out = {0};
    s->version_mismatch = is_version_mismatch(frame, size);
    int status = s->version_mismatch ? WB_cudaErrorInsufficientDriver
                                     : dispatch(s, frame, size, reply, &out);
    if (status) {
        memset(reply, 0, sizeof reply);
        buf_clear(&out);
    }
    bool ok = true;
    if (s->call_requested)
        s->call_request_seq = q->seq; /* the reply is sent when there is a
                                       * call to make */
    else if (is_one_way(q)) s->deferred_error = s->deferred_error ? s->deferred_error : status;
    else ok = send_reply(s, q, status, reply, handlers[q->op].reply, &out);
    buf_free(&out);
    if (s->pending.kernel) server_run_pending(s);
    publish_progress(s, q);
    /* A submission's runtime is ours, so a frame with another version is forged. */
    return ok && (!s->version_mismatch || s->options.grading);
}

bool server_has_version_mismatch(const struct server *s) { return s->version_mismatch; }

enum server_end_reason server_serve(struct server *s, double deadline, int watch) {
    _Alignas(8) uint8_t frame[WB_FRAME_BYTES];
    s->deadline = deadline;
    for (;;) {
        size_t size = 0;
        enum server_end_reason end = server_channel_receive(s, frame, &size, deadline, watch);
        if (end != SERVER_CALL_FAILED) return end;
        if (s->options.max_messages && ++s->messages > s->options.max_messages) return SERVER_LIMIT;
        if (s->call_requested)
            return SERVER_CLOSED; /* it requested a call and did not wait for the reply */
        if (!handle_frame(s, frame, size)) return SERVER_CLOSED;
        if (s->limit_exceeded) return SERVER_LIMIT;
        if (s->call_requested) return SERVER_CALL_FAILED;
        if (deadline && server_now() >= deadline) return SERVER_DEADLINE;
    }
}

/* ---- messages about the connection ---- */

int server_on_hello(struct server *s, const struct wb_req_hello *q, struct message_tail tail,
                    struct wb_rep_hello *p, struct buf *out) {
    (void)tail, (void)out;
    /* A program and its library, each with its own copy of the runtime, both send hello. */
    if (!s->options.grading && q->pid != s->client_pid) {
        s->client_pid = q->pid;
        server_modules_clear(s);
        server_context_clear(s, false);
    }
    p->base = s->backend->base;
    p->span = s->backend->span;
    p->window_bytes = s->options.window_bytes;
    p->shared_bytes = s->shared_bytes;
    p->grading = s->options.grading;
    p->sanitize = s->options.sanitize;
    p->ndevices = s->backend->ndevices;
    p->link = server_link(s);
    return 0;
}

int server_on_device_info(struct server *s, const struct wb_req_device_info *q,
                          struct message_tail tail, struct wb_rep_device_info *p, struct buf *out) {
    (void)q, (void)tail, (void)out;
    const struct gpu_device *d = s->backend->device;
    *p = (struct wb_rep_device_info){
        .memory_bytes = s->backend->memory_bytes,
        .l2_bytes = d->l2_bytes,
        .dram_rate = (uint64_t)d->dram_rate,
        .cc_major = d->cc_major,
        .cc_minor = d->cc_minor,
        .sms = d->sms,
        .clock_khz = (uint32_t)(d->clock_hz / 1e3),
        .warps_per_sm = d->warps_per_sm,
        .blocks_per_sm = d->blocks_per_sm,
        .registers_per_sm = d->registers_per_sm,
        .shared_per_sm = d->shared_per_sm,
        .shared_per_block = d->shared_per_block,
        .shared_reserved = d->shared_reserved,
        .fp32_per_fp64 = d->fp64_lanes ? d->fp32_lanes / d->fp64_lanes : 0,
    };
    snprintf(p->name, sizeof p->name, "%s", d->full_name);
    return 0;
}

int server_on_sync(struct server *s, const struct wb_req_sync *q, struct message_tail tail,
                   struct wb_rep_sync *p, struct buf *out) {
    (void)tail, (void)p, (void)out;
    int error =
        s->deferred_error; /* all earlier commands are done; a poisoned context never gets here */
    s->deferred_error = 0;
    if (s->recording && q->is_wait) recording_count_wait(s->recording);
    server_clock_sync(s);
    return error;
}

int server_on_heap(struct server *s, const struct wb_req_heap *q, struct message_tail tail,
                   struct wb_rep_heap *p, struct buf *out) {
    (void)tail, (void)p, (void)out;
    if (s->options.grading || !s->backend->ops->set_heap_size) return WB_cudaErrorNotPermitted;
    if (s->backend->ops->set_heap_size(s->backend, q->bytes)) return 0;
    return server_refuse(s, WB_cudaErrorMemoryAllocation,
                         "a heap of %llu bytes: the simulated device has %llu at most",
                         (unsigned long long)q->bytes, (unsigned long long)SIM_MAX_HEAP_BYTES);
}

int server_on_reset(struct server *s, const struct wb_req_reset *q, struct message_tail tail,
                    struct wb_rep_reset *p, struct buf *out) {
    (void)q, (void)tail, (void)p, (void)out;
    if (s->options.grading)
        return server_refuse(s, WB_cudaErrorNotPermitted,
                             "an exercise's entry must not reset the device");
    if (s->backend->ndevices > 1) server_reset_device(s);
    else server_context_clear(s, false);
    return 0;
}

int server_on_event(struct server *s, const struct wb_req_event *q, struct message_tail tail,
                    struct wb_rep_event *p, struct buf *out) {
    (void)tail, (void)p, (void)out;
    if (q->event >= WB_MAX_EVENTS) return WB_cudaErrorInvalidValue;
    if (!s->options.grading) return server_clock_record_event(s, q->event), 0;
    if (!s->event_ns) s->event_ns = xcalloc(WB_MAX_EVENTS, sizeof *s->event_ns);
    s->event_ns[q->event] = (uint64_t)(s->seconds * 1e9 + 0.5);
    return 0;
}

int server_on_event_time(struct server *s, const struct wb_req_event_time *q,
                         struct message_tail tail, struct wb_rep_event_time *p, struct buf *out) {
    (void)tail, (void)out;
    if (q->event >= WB_MAX_EVENTS) return WB_cudaErrorInvalidValue;
    double seconds = server_clock_event_seconds(s, q->event);
    p->time_ns = s->event_ns ? s->event_ns[q->event] : (uint64_t)(seconds * 1e9 + 0.5);
    return 0;
}

/* Moves the tail's next text, up to its zero byte, to `out`, of printable characters. */
static void take_text(struct message_tail *t, char *out, size_t size) {
    size_t n = strnlen((const char *)t->data, t->size);
    server_copy_printable(out, size, (struct message_tail){t->data, n});
    n += n < t->size;
    t->data += n, t->size -= n;
}

/* If the server refused the call itself, it knows the reason, but neither the call's name in the
 * program nor its line. Only the first failed call counts. */
int server_on_api_error(struct server *s, const struct wb_req_api_error *q,
                        struct message_tail tail, struct wb_rep_api_error *p, struct buf *out) {
    (void)p, (void)out;
    struct server_outcome *o = s->outcome;
    bool is_server_refusal = o && o->error == (int)q->error && !o->api_call[0];
    if (!o || !s->recording || !q->error || (o->error && !is_server_refusal)) return 0;
    char reason[sizeof o->reason];
    o->error = (int)q->error;
    o->line = q->line;
    take_text(&tail, o->api_call, sizeof o->api_call);
    take_text(&tail, o->file, sizeof o->file);
    take_text(&tail, reason, sizeof reason);
    if (reason[0]) memcpy(o->reason, reason, sizeof reason);
    return 0;
}

int server_on_output(struct server *s, const struct wb_req_output *q, struct message_tail tail,
                     struct wb_rep_output *p, struct buf *out) {
    (void)q, (void)tail;
    struct buf *text = s->device_stdout.size ? &s->device_stdout : &s->device_stderr;
    size_t capacity = WB_FRAME_BYTES - sizeof(struct wb_header) - sizeof *p, n = text->size;
    p->to_stderr = text == &s->device_stderr;
    if (n > capacity) n = capacity;
    if (!n) return 0;
    buf_add(out, text->data, n);
    memmove(text->data, text->data + n, text->size - n);
    text->size -= n;
    return 0;
}
