/* record.c — recordings: stores the executed messages of an entry, in order and with their data,
 * and replays them without the client through the same functions that served it.
 *
 * A replay gets the same addresses because a reset device returns the same addresses for the same
 * calls. The exercise's own buffers are allocated first; then each replay repeats the entry's
 * allocations and compares the addresses. */
#include "common/grow.h"
#include "grader/server/internal.h"

#include <stdlib.h>
#include <string.h>

enum { SECTOR = 32 }; /* bytes */

void recording_free(struct recording *r) {
    if (!r) return;
    free(r->commands);
    buf_free(&r->bytes);
    free(r);
}

unsigned recording_launches(const struct recording *r) { return r->launches; }

static bool is_transfer(enum wb_op op) {
    return op == WB_OP_write || op == WB_OP_fill || op == WB_OP_copy;
}

bool recording_has_writes(const struct recording *r) {
    for (size_t i = 0; i < r->ncommands; i++) {
        if (is_transfer(r->commands[i].op)) return true;
    }
    return false;
}

static uint64_t sectors_of(uint64_t from, uint64_t bytes) {
    return bytes ? (from + bytes - 1) / SECTOR - from / SECTOR + 1 : 0;
}

/* Sectors that `rows` rows touch, row by row; rows less than a sector apart are one stretch. Where
 * rows begin within a sector repeats itself after 32 of them at the latest. */
static uint64_t row_sectors(uint64_t from, uint64_t pitch, uint64_t width, uint64_t rows) {
    if (!width || !rows) return 0;
    if (rows == 1 || pitch == width || pitch <= SECTOR)
        return sectors_of(from, (rows - 1) * pitch + width);
    uint64_t period_sectors = 0, rest_sectors = 0;
    for (uint64_t r = 0; r < SECTOR; r++) {
        uint64_t n = sectors_of((from + r * pitch) % SECTOR, width);
        period_sectors += n, rest_sectors += r < rows % SECTOR ? n : 0;
    }
    return period_sectors * (rows / SECTOR) + rest_sectors;
}

static void add_copy(struct server_transfers *m, const struct server *s,
                     const struct wb_req_copy *q) {
    enum copy_direction direction = server_copy_direction(s, q);
    if (direction == COPY_HOST_TO_DEVICE) m->bus_bytes_in += q->width * q->rows;
    if (direction == COPY_DEVICE_TO_HOST) m->bus_bytes_out += q->width * q->rows;
    if (direction != COPY_DEVICE_TO_DEVICE) return;
    m->copied_bytes += q->width * q->rows;
    m->copied_sectors_read += row_sectors(q->from, q->from_pitch, q->width, q->rows);
    m->copied_sectors_written += row_sectors(q->to, q->to_pitch, q->width, q->rows);
}

static void add_fill(struct server_transfers *m, const struct wb_req_fill *q) {
    m->filled_bytes += q->width * q->rows;
    m->filled_sectors += row_sectors(q->address, q->pitch, q->width, q->rows);
}

struct server_transfers recording_transfers(const struct server *s, const struct recording *r) {
    struct server_transfers m = {0};
    for (size_t i = 0; i < r->ncommands; i++) {
        const void *q = r->bytes.data + r->commands[i].request;
        enum wb_op op = r->commands[i].op;
        if (op == WB_OP_copy) add_copy(&m, s, q);
        if (op == WB_OP_fill) add_fill(&m, q);
        m.copies += op == WB_OP_copy || op == WB_OP_write, m.fills += op == WB_OP_fill;
    }
    m.bus_critical_path_bytes = (uint64_t)recording_bus_critical_path(s, r);
    m.synchronizing_calls = r->synchronizing_calls;
    m.max_temporary_bytes = r->max_temporary_bytes;
    m.host_commands = r->host_commands, m.instantiated_nodes = r->instantiated_nodes;
    return m;
}

/* Offsets are multiples of 16, so that requests and parameters can be used in place. */
static size_t append_bytes(struct recording *r, const void *data, size_t size) {
    static const uint8_t zeros[16];
    size_t at = r->bytes.size;
    if (size) buf_add(&r->bytes, data, size);
    buf_add(&r->bytes, zeros, (16 - size % 16) % 16);
    return at;
}

void recording_append(struct server *s, enum wb_op op, const void *request, size_t size,
                      struct message_tail tail, uint64_t result) {
    struct recording *r = s->recording;
    if (!r) return;
    if (r->bytes.size + size + tail.size > s->options.max_recorded_bytes) {
        s->limit_exceeded = true;
        server_refuse(s, 0, "the entry's commands carry more than %llu MiB of data",
                      (unsigned long long)(s->options.max_recorded_bytes >> 20));
        return;
    }
    GROW(r->commands, r->ncommands + 1, r->capacity, 16);
    struct command *c = &r->commands[r->ncommands++];
    *c = (struct command){.op = op, .tail_size = tail.size, .result = result, .device = s->device};
    const struct wb_req_copy *q = request;
    if (op == WB_OP_copy)
        c->from_device = server_device_of(s, q->from), c->to_device = server_device_of(s, q->to);
    c->request = append_bytes(r, request, size);
    c->tail = append_bytes(r, tail.data, tail.size);
    r->launches += op == WB_OP_launch;
    r->has_crossed_bus |=
        op == WB_OP_write ||
        (op == WB_OP_copy && server_copy_direction(s, request) != COPY_DEVICE_TO_DEVICE);
    if (op != WB_OP_launch && !is_transfer(op)) return;
    if (server_is_node_command(s, op, request)) c->graph_launch = s->graphs.launch;
    else r->host_commands++;
}

/* ---- waits ---- */

void recording_count_wait(struct recording *r) {
    r->synchronizing_calls++;
    r->has_waited = true;
}

void recording_check_host_clock(struct server *s, const struct wb_req_order *q,
                                struct message_tail tail) {
    struct recording *r = s->recording;
    if (!r || !q->number || tail.size != 2 * sizeof r->host_clock) return;
    uint32_t clock[WB_MAX_STREAMS];
    bool has_advanced = false;
    memcpy(clock, tail.data + sizeof clock, sizeof clock);
    for (unsigned i = 0; i < WB_MAX_STREAMS; i++) {
        if (clock[i] <= r->host_clock[i]) continue;
        has_advanced = r->has_host_clock;
        r->host_clock[i] = clock[i];
    }
    if (has_advanced && !r->has_waited && !r->has_crossed_bus) recording_count_wait(r);
    r->has_host_clock = true, r->has_waited = r->has_crossed_bus = false;
}

int server_on_host_wait(struct server *s, const struct wb_req_host_wait *q,
                        struct message_tail tail, struct wb_rep_host_wait *p, struct buf *out) {
    (void)q, (void)tail, (void)p, (void)out;
    if (s->recording) recording_count_wait(s->recording);
    return 0;
}

/* ---- the problem's own buffers ---- */

static bool allocate_problem_buffers(struct server *s, bool must_match, bool keep_variables,
                                     struct err *e) {
    server_context_clear(s, keep_variables);
    for (unsigned i = 0; i < s->nproblem_buffers; i++) {
        struct problem_buffer *b = &s->problem_buffers[i];
        const struct backend_ops *ops = s->backend->ops;
        if (!server_select_device(s, b->device))
            return err_set(e, ERR_INTERNAL, "device server: `%s` is on device %u", b->name,
                           b->device);
        uint64_t address =
            (b->is_host_memory ? ops->alloc_host : ops->alloc_pages)(s->backend, b->bytes, b->name);
        if (!address)
            return err_set(e, ERR_LIMIT, "out of device memory for `%s` of %llu bytes", b->name,
                           (unsigned long long)b->bytes);
        if (must_match && address != b->address)
            return err_set(e, ERR_INTERNAL, "device server: `%s` moved from 0x%llx to 0x%llx",
                           b->name, (unsigned long long)b->address, (unsigned long long)address);
        b->address = address;
    }
    return server_select_device(s, 0);
}

bool server_buffers(struct server *s, const struct server_buffer *buffers, unsigned n,
                    struct err *e) {
    if (n > MAX_BUFFERS)
        return err_set(e, ERR_INTERNAL, "device server: more than %d buffers", MAX_BUFFERS);
    for (unsigned i = 0; i < s->nproblem_buffers; i++) free(s->problem_buffers[i].name);
    s->nproblem_buffers = n;
    for (unsigned i = 0; i < n; i++)
        s->problem_buffers[i] = (struct problem_buffer){.name = xstrdup(buffers[i].name),
                                                        .bytes = buffers[i].bytes,
                                                        .is_host_memory = buffers[i].is_host_memory,
                                                        .device = buffers[i].device};
    if (s->backend->ops->unshare_pages) s->backend->ops->unshare_pages(s->backend);
    if (!allocate_problem_buffers(s, false, false, e)) return false;
    for (unsigned i = 0; s->backend->ops->share_pages && i < n; i++)
        s->problem_buffers[i].is_shared =
            buffers[i].fd && buffers[i].bytes &&
            s->backend->ops->share_pages(s->backend, s->problem_buffers[i].address, buffers[i].fd,
                                         buffers[i].offset);
    return true;
}

uint64_t server_buffer_address(const struct server *s, unsigned i) {
    return s->problem_buffers[i].address;
}

bool server_restart(struct server *s, struct err *e) {
    return allocate_problem_buffers(s, true, false, e);
}
bool server_restart_keep_variables(struct server *s, struct err *e) {
    return allocate_problem_buffers(s, true, true, e);
}

bool server_is_shared(const struct server *s, unsigned i) {
    return s->problem_buffers[i].is_shared;
}
bool server_mark_contents(struct server *s, uint64_t address, uint64_t bytes,
                          enum server_content content) {
    return s->backend->ops->mark_contents(s->backend, address, bytes,
                                          content == SERVER_INITIALIZED);
}
bool server_write(struct server *s, uint64_t to, const void *data, uint64_t bytes) {
    return s->backend->ops->write(s->backend, to, data, bytes);
}
bool server_read(struct server *s, uint64_t from, void *data, uint64_t bytes) {
    return s->backend->ops->read(s->backend, from, data, bytes);
}

void server_drain_output(struct server *s, struct buf *out) {
    if (s->device_stdout.size) buf_add(out, s->device_stdout.data, s->device_stdout.size);
    if (s->device_stderr.size) buf_add(out, s->device_stderr.data, s->device_stderr.size);
    buf_clear(&s->device_stdout);
    buf_clear(&s->device_stderr);
}

/* ---- recording ---- */

void server_copy_printable(char *out, size_t size, struct message_tail t) {
    size_t n = 0;
    for (size_t i = 0; i < t.size && n + 1 < size; i++)
        out[n++] =
            t.data[i] == '\n' || (t.data[i] >= ' ' && t.data[i] < 0x7f) ? (char)t.data[i] : '?';
    out[n] = 0;
}

int server_on_next_call(struct server *s, const struct wb_req_next_call *q,
                        struct message_tail tail, struct wb_rep_next_call *p, struct buf *out) {
    (void)p, (void)out;
    if (!s->options.grading || q->state >= WB_CALL_STATE_COUNT) return WB_cudaErrorNotPermitted;
    s->call_requested = true;
    if (!s->outcome) return 0;
    s->outcome->call_state = q->state;
    server_copy_printable(s->outcome->text, sizeof s->outcome->text, tail);
    return 0;
}

static bool send_call(struct server *s, const char *entry, const struct wb_arg *args,
                      unsigned nargs) {
    _Alignas(8) uint8_t frame[sizeof(struct wb_header) + sizeof(struct wb_rep_next_call) +
                              WB_MAX_ARGS * sizeof *args + 256] = {0};
    struct wb_header *h = (void *)frame;
    struct wb_rep_next_call *p = (void *)(h + 1);
    size_t name = strlen(entry), nbytes = nargs * sizeof *args;
    if (nargs > WB_MAX_ARGS || name > 255) die("device server: a call with %u arguments", nargs);
    p->nargs = nargs;
    if (nargs) memcpy(p + 1, args, nbytes);
    memcpy((uint8_t *)(p + 1) + nbytes, entry, name);
    *h = (struct wb_header){.op = WB_OP_next_call, .seq = s->call_request_seq};
    h->size = (uint32_t)(sizeof *h + sizeof *p + nbytes + name);
    s->call_requested = false;
    return server_channel_send(s, frame, h->size);
}

static void serve_until(struct server *s, double deadline, int watch, struct server_outcome *out) {
    s->outcome = out;
    out->end_reason = server_serve(s, deadline, watch);
    s->outcome = NULL;
    out->launches = s->launches;
    out->seconds = s->seconds;
}

bool server_wait_ready(struct server *s, double deadline, int watch, struct server_outcome *out) {
    *out = (struct server_outcome){0};
    serve_until(s, deadline, watch, out);
    return out->end_reason == SERVER_CALL_FAILED && out->call_state == WB_READY;
}

bool server_record(struct server *s, const char *entry, const struct wb_arg *args, unsigned nargs,
                   double deadline, int watch, struct recording **recording,
                   struct server_outcome *out) {
    *recording = NULL;
    *out = (struct server_outcome){.end_reason = SERVER_CLOSED};
    if (!s->call_requested) return false;
    s->limit_exceeded = false;
    s->recording = xcalloc(1, sizeof *s->recording);
    s->nrecordings++;
    server_graphs_end_launches(s);
    if (send_call(s, entry, args, nargs)) serve_until(s, deadline, watch, out);
    struct recording *r = s->recording;
    s->recording = NULL;
    if (out->end_reason == SERVER_CALL_FAILED && out->call_state == WB_RETURNED)
        *recording = r, recording_mark_waiters(r);
    else recording_free(r);
    return *recording;
}

/* ---- replay ---- */

static int replay_command(struct server *s, const struct recording *r, const struct command *c,
                          uint64_t *result) {
    const void *q = r->bytes.data + c->request;
    struct message_tail tail = {(const uint8_t *)r->bytes.data + c->tail, c->tail_size};
    server_select_device(s, c->device);
    switch ((int)c->op) {
    case WB_OP_alloc: return server_exec_alloc(s, q, result);
    case WB_OP_free: return server_exec_free(s, q);
    case WB_OP_write: return server_exec_write(s, q, tail.data);
    case WB_OP_fill: return server_exec_fill(s, q);
    case WB_OP_copy: return server_exec_copy(s, q);
    case WB_OP_launch: return server_exec_launch(s, q, tail, true);
    case WB_OP_order:
        if (r->has_several_streams || !s->backend->ops->check_host_access)
            server_exec_order(s, q, tail, c->has_waiter);
        return 0;
    }
    die("device server: message %d in a recording", c->op);
}

static const char *op_name(enum wb_op op) {
    static const char *const names[] = {
#define MESSAGE(name, flags, request, reply) #name,
#include "grader/server/protocol.def"
#undef MESSAGE
    };
    return names[op];
}

bool server_replay(struct server *s, const struct recording *r, double busy_seconds,
                   double deadline, struct server_outcome *out, struct err *e) {
    *out = (struct server_outcome){.end_reason = SERVER_CALL_FAILED, .call_state = WB_RETURNED};
    double start_seconds = s->seconds;
    s->deadline = deadline, s->busy_limit = busy_seconds, s->busy_seconds = 0;
    bool ok = true;
    for (size_t i = 0;
         ok && i < r->ncommands && !s->sticky_error && out->end_reason == SERVER_CALL_FAILED; i++) {
        const struct command *c = &r->commands[i];
        if (deadline && server_now() >= deadline) {
            out->end_reason = SERVER_DEADLINE;
            break;
        }
        uint64_t result = 0;
        int error = replay_command(s, r, c, &result);
        if (error && deadline && server_now() >= deadline) out->end_reason = SERVER_DEADLINE;
        else if (error || result != c->result)
            ok = err_set(
                e, ERR_INTERNAL,
                "device server: replaying command %zu (%s) gave %s, 0x%llx instead of 0x%llx", i,
                op_name(c->op), server_error_name(error), (unsigned long long)result,
                (unsigned long long)c->result);
    }
    out->fault = s->sticky_error;
    out->seconds = s->seconds - start_seconds;
    out->launches = s->launches;
    return ok;
}
