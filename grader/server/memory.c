/* memory.c — the device server's memory messages. A two-dimensional range is checked as a whole
 * before any access. While grading, the client may fill temporary device memory but must not read
 * device memory back. */
#include "common/text.h"
#include "grader/server/launch_stats.h"
#include "grader/server/repeats.h"

#include <stdlib.h>
#include <string.h>

/* Sets `bytes` to the distance from the first byte of `rows` rows to the end of the last; returns
 * false if rows overlap or the figure exceeds 64 bits. */
static bool compute_extent(uint64_t pitch, uint64_t width, uint64_t rows, uint64_t *bytes) {
    *bytes = 0;
    if (!width || !rows) return true;
    if (rows > 1 && pitch < width) return false;
    uint64_t strides;
    return !__builtin_mul_overflow(rows - 1, rows > 1 ? pitch : 0, &strides) &&
           !__builtin_add_overflow(strides, width, bytes);
}

static bool is_in_one_allocation(struct server *s, uint64_t address, uint64_t bytes) {
    uint64_t start, size;
    if (!s->backend->ops->find_allocation(s->backend, address, &start, &size)) return false;
    return address - start <= size && bytes <= size - (address - start);
}

static int check_range(struct server *s, const char *description, uint64_t address, uint64_t pitch,
                       uint64_t width, uint64_t rows) {
    uint64_t bytes;
    if (!compute_extent(pitch, width, rows, &bytes)) return WB_cudaErrorInvalidPitchValue;
    if (!bytes || is_in_one_allocation(s, address, bytes)) return 0;
    return server_refuse(s, WB_cudaErrorInvalidValue,
                         "%s: %llu bytes at 0x%llx do not lie in one allocation of the device",
                         description, (unsigned long long)bytes, (unsigned long long)address);
}

static const struct problem_buffer *problem_buffer_at(const struct server *s, uint64_t address) {
    for (unsigned i = 0; i < s->nproblem_buffers; i++)
        if (address >= s->problem_buffers[i].address &&
            address <= s->problem_buffers[i].address + s->problem_buffers[i].bytes)
            return &s->problem_buffers[i];
    return NULL;
}

/* Returns the exercise's host-memory buffer that holds the address. */
static const struct problem_buffer *host_buffer_at(const struct server *s, uint64_t address) {
    for (unsigned i = 0; i < s->nproblem_buffers; i++)
        if (s->problem_buffers[i].is_host_memory &&
            address - s->problem_buffers[i].address < s->problem_buffers[i].bytes)
            return &s->problem_buffers[i];
    return NULL;
}

enum copy_direction server_copy_direction(const struct server *s, const struct wb_req_copy *q) {
    return host_buffer_at(s, q->from) ? COPY_HOST_TO_DEVICE
           : host_buffer_at(s, q->to) ? COPY_DEVICE_TO_HOST
                                      : COPY_DEVICE_TO_DEVICE;
}

/* ---- executed live and in replays ---- */

static unsigned live_hash_slot(const struct server *s, uint64_t address) {
    return (unsigned)(address * 0x9e3779b97f4a7c15ull >> 32) & (s->live_slots - 1);
}

/* Returns the slot of the address, or the free slot for it. */
static unsigned find_live_slot(const struct server *s, uint64_t address) {
    unsigned i = live_hash_slot(s, address);
    while (s->live_allocations[i].address && s->live_allocations[i].address != address)
        i = (i + 1) & (s->live_slots - 1);
    return i;
}

static void grow_live(struct server *s) {
    struct live_allocation *old = s->live_allocations;
    unsigned n = s->live_slots;
    s->live_slots = n ? 2 * n : 64;
    s->live_allocations = xcalloc(s->live_slots, sizeof *s->live_allocations);
    for (unsigned i = 0; i < n; i++)
        if (old[i].address) s->live_allocations[find_live_slot(s, old[i].address)] = old[i];
    free(old);
}

static void add_live(struct server *s, uint64_t address, uint64_t bytes) {
    if (2 * s->nlive_allocations >= s->live_slots) grow_live(s);
    s->live_allocations[find_live_slot(s, address)] =
        (struct live_allocation){address, bytes, s->allocations};
    s->nlive_allocations++;
}

/* Removes an allocation from the hash table, and moves the entries behind it that a search could no
 * longer reach into the gap. */
static void remove_live(struct server *s, uint64_t address) {
    unsigned mask = s->live_slots - 1, gap = s->live_slots ? find_live_slot(s, address) : 0;
    if (!s->live_slots || !s->live_allocations[gap].address) return;
    s->nlive_allocations--;
    for (unsigned i = (gap + 1) & mask; s->live_allocations[i].address; i = (i + 1) & mask) {
        unsigned home_slot = live_hash_slot(s, s->live_allocations[i].address);
        if (((i - home_slot) & mask) < ((i - gap) & mask)) continue;
        s->live_allocations[gap] = s->live_allocations[i];
        gap = i;
    }
    s->live_allocations[gap].address = 0;
}

void server_forget_freed(struct server *s) {
    uint64_t start, bytes;
    for (unsigned i = 0; i < s->live_slots;) {
        uint64_t address = s->live_allocations[i].address;
        if (!address || s->backend->ops->find_allocation(s->backend, address, &start, &bytes)) i++;
        else remove_live(s, address), i = 0; /* it may move entries */
    }
}

void server_clear_allocations(struct server *s) {
    free(s->live_allocations);
    s->live_allocations = NULL;
    s->nlive_allocations = s->live_slots = 0;
}

static void report_host_race(struct server *s, const char *description,
                             struct sim_strided_range r) {
    struct sim_report report;
    if (!s->has_stream_order || !s->backend->ops->check_host_access || !r.width || !r.rows) return;
    if (s->backend->ops->check_host_access(s->backend, description, &r, &report) &&
        s->options.on_report)
        s->options.on_report(s->options.user, &report);
}

/* Memory is allocated and freed in the order of a stream: it counts as written. */
static void report_range_race(struct server *s, const char *description, const char *verb,
                              uint64_t address, uint64_t bytes) {
    report_host_race(s, description,
                     (struct sim_strided_range){.address = address,
                                                .pitch = bytes,
                                                .width = bytes,
                                                .rows = 1,
                                                .is_write = true,
                                                .verb = verb});
}

int server_exec_alloc(struct server *s, const struct wb_req_alloc *q, uint64_t *address) {
    char name[40];
    snprintf(name, sizeof name, "cudaMalloc #%u", ++s->allocations);
    *address = s->backend->ops->alloc(s->backend, q->bytes, name);
    if (*address && q->is_ordered)
        report_range_race(s, "cudaMallocAsync", "allocates", *address, q->bytes);
    if (*address) return add_live(s, *address, q->bytes), 0;
    return server_refuse(s, WB_cudaErrorMemoryAllocation,
                         "out of device memory: %llu bytes requested, %llu of %llu bytes are in "
                         "use",
                         (unsigned long long)q->bytes,
                         (unsigned long long)s->backend->ops->memory_used(s->backend),
                         (unsigned long long)s->backend->memory_bytes);
}

static void report_free_race(struct server *s, const struct wb_req_free *q) {
    uint64_t start, bytes;
    if (q->is_ordered && s->backend->ops->find_allocation(s->backend, q->address, &start, &bytes) &&
        start == q->address)
        report_range_race(s, "cudaFreeAsync", "frees", start, bytes);
}

int server_exec_free(struct server *s, const struct wb_req_free *q) {
    report_free_race(s, q);
    if (!s->backend->ops->free(s->backend, q->address))
        return server_refuse(
            s, WB_cudaErrorInvalidValue,
            "freeing 0x%llx, which is not the start of a live allocation (freed twice?)",
            (unsigned long long)q->address);
    remove_live(s, q->address);
    return 0;
}

static void clear_order(struct server *s) {
    if (s->has_stream_order) s->backend->ops->set_stream_clock(s->backend, NULL);
    s->has_stream_order = false;
}

void server_exec_order(struct server *s, const struct wb_req_order *q, struct message_tail tail,
                       bool has_waiter) {
    struct sim_stream_clock o = {.stream = q->stream,
                                 .sequence = q->number,
                                 .is_graph_node = q->is_node,
                                 .host_line = q->host_line,
                                 .has_dependent = has_waiter};
    _Static_assert((int)WB_MAX_STREAMS == (int)SIM_MAX_STREAMS, "one list");
    if (!s->backend->ops->set_stream_clock) return;
    if (!q->number || tail.size != sizeof o.ordered_after + sizeof o.all_later_ordered_after)
        return clear_order(s);
    memcpy(o.ordered_after, tail.data, sizeof o.ordered_after);
    memcpy(o.all_later_ordered_after, tail.data + sizeof o.ordered_after,
           sizeof o.all_later_ordered_after);
    s->has_stream_order = true;
    s->backend->ops->set_stream_clock(s->backend, &o);
}

/* A hostile pitch can mean a billion rows, so this loop obeys the deadline, too. */
static bool is_before_deadline(const struct server *s, uint64_t row) {
    return row % 4096 || !s->deadline || server_now() < s->deadline;
}

int server_exec_write(struct server *s, const struct wb_req_write *q, const uint8_t *data) {
    bool ok = true;
    if (!q->width || !q->rows) return 0;
    report_host_race(
        s, "a copy from the host",
        (struct sim_strided_range){q->address, q->pitch, q->width, q->rows, true, NULL});
    if (q->pitch == q->width || q->rows == 1)
        return s->backend->ops->write(s->backend, q->address, data, q->width * q->rows)
                   ? 0
                   : WB_cudaErrorInvalidValue;
    for (uint64_t r = 0; ok && r < q->rows && (ok = is_before_deadline(s, r)); r++)
        ok = s->backend->ops->write(s->backend, q->address + r * q->pitch, data + r * q->width,
                                    q->width);
    return ok ? 0 : WB_cudaErrorInvalidValue;
}

int server_exec_fill(struct server *s, const struct wb_req_fill *q) {
    bool ok = true;
    if (!q->width || !q->rows) return 0;
    report_host_race(
        s, "cudaMemset",
        (struct sim_strided_range){q->address, q->pitch, q->width, q->rows, true, NULL});
    if (q->pitch == q->width || q->rows == 1)
        return s->backend->ops->fill(s->backend, q->address, (uint8_t)q->value, q->width * q->rows)
                   ? 0
                   : WB_cudaErrorInvalidValue;
    for (uint64_t r = 0; ok && r < q->rows && (ok = is_before_deadline(s, r)); r++)
        ok = s->backend->ops->fill(s->backend, q->address + r * q->pitch, (uint8_t)q->value,
                                   q->width);
    return ok ? 0 : WB_cudaErrorInvalidValue;
}

int server_exec_copy(struct server *s, const struct wb_req_copy *q) {
    if (!q->width || !q->rows) return 0;
    const char *description =
        q->from - s->backend->base < s->shared_bytes || host_buffer_at(s, q->from)
            ? "a copy from the host"
        : q->to - s->backend->base < s->shared_bytes || host_buffer_at(s, q->to)
            ? "a copy to the host"
            : "a copy on the device";
    report_host_race(
        s, description,
        (struct sim_strided_range){q->from, q->from_pitch, q->width, q->rows, false, NULL});
    report_host_race(s, description,
                     (struct sim_strided_range){q->to, q->to_pitch, q->width, q->rows, true, NULL});
    bool ok = true, flat = (q->to_pitch == q->width && q->from_pitch == q->width) || q->rows == 1;
    if (flat)
        return s->backend->ops->copy(s->backend, q->to, q->from, q->width * q->rows)
                   ? 0
                   : WB_cudaErrorInvalidValue;
    for (uint64_t r = 0; ok && r < q->rows && (ok = is_before_deadline(s, r)); r++)
        ok = s->backend->ops->copy(s->backend, q->to + r * q->to_pitch, q->from + r * q->from_pitch,
                                   q->width);
    return ok ? 0 : WB_cudaErrorInvalidValue;
}

/* ---- messages ---- */

int server_on_accesses(struct server *s, const struct wb_req_accesses *q, struct message_tail tail,
                       struct wb_rep_accesses *p, struct buf *out) {
    (void)tail;
    struct sim_access_run runs[WB_MAX_ACCESS_RUNS];
    if (s->has_stream_order && s->backend->ops->list_accesses)
        p->count =
            s->backend->ops->list_accesses(s->backend, q->low, q->high, runs, WB_MAX_ACCESS_RUNS);
    for (uint64_t i = 0; i < p->count; i++) {
        struct wb_access_run r = {.address = runs[i].address,
                                  .rows = runs[i].rows,
                                  .read_mask = runs[i].read_mask,
                                  .write_mask = runs[i].write_mask};
        struct buf description = {0};
        buf_puts(&description, runs[i].description), text_demangle(&description);
        snprintf(r.description, sizeof r.description, "%s", buf_str(&description));
        buf_free(&description);
        buf_add(out, &r, sizeof r);
    }
    return 0;
}

int server_on_order(struct server *s, const struct wb_req_order *q, struct message_tail tail,
                    struct wb_rep_order *p, struct buf *out) {
    (void)p, (void)out;
    server_exec_order(s, q, tail, false);
    server_clock_set_order(s, q, tail);
    recording_append(s, WB_OP_order, q, sizeof *q, tail, 0);
    recording_check_host_clock(s, q, tail);
    return 0;
}

static void record_alloc(struct recording *r, const struct wb_req_alloc *q) {
    if (!r) return;
    if (!q->is_ordered && !q->is_node) recording_count_wait(r);
    r->temporary_bytes += q->bytes;
    if (r->temporary_bytes > r->max_temporary_bytes) r->max_temporary_bytes = r->temporary_bytes;
}

/* `bytes`: the size of what is freed. */
static void record_free(struct recording *r, const struct wb_req_free *q, uint64_t bytes) {
    if (!r) return;
    if (!q->is_ordered && !q->is_node) recording_count_wait(r);
    r->temporary_bytes -= bytes;
}

int server_on_alloc(struct server *s, const struct wb_req_alloc *q, struct message_tail tail,
                    struct wb_rep_alloc *p, struct buf *out) {
    (void)tail, (void)out;
    int error = server_exec_alloc(s, q, &p->address);
    if (error) return error;
    record_alloc(s->recording, q);
    recording_append(s, WB_OP_alloc, q, sizeof *q, (struct message_tail){0}, p->address);
    return 0;
}

int server_on_alloc_shared(struct server *s, const struct wb_req_alloc_shared *q,
                           struct message_tail tail, struct wb_rep_alloc_shared *p,
                           struct buf *out) {
    (void)tail, (void)out;
    char name[40];
    if (s->options.grading)
        return server_refuse(s, WB_cudaErrorNotPermitted,
                             "managed and mapped memory let the host see what the device computes, "
                             "which an exercise's "
                             "entry must not: use cudaMalloc for temporaries");
    if (!s->shared_bytes)
        return server_refuse(s, WB_cudaErrorNotSupported, "host and device share no memory here");
    snprintf(name, sizeof name, "%s #%u", q->managed ? "cudaMallocManaged" : "pinned memory",
             ++s->allocations);
    p->address = s->backend->ops->alloc_shared(s->backend, q->bytes, name);
    s->has_shared_allocations = true;
    if (p->address) return add_live(s, p->address, q->bytes), 0;
    return server_refuse(s, WB_cudaErrorMemoryAllocation,
                         "out of shared host memory: %llu bytes requested, the limit is %llu bytes",
                         (unsigned long long)q->bytes, (unsigned long long)s->shared_bytes);
}

int server_on_condition(struct server *s, const struct wb_req_condition *q,
                        struct message_tail tail, struct wb_rep_condition *p, struct buf *out) {
    (void)q, (void)tail, (void)out;
    if (s->options.grading)
        return server_refuse(s, WB_cudaErrorNotSupported,
                             "conditional nodes of graphs are not part of exercises");
    p->address = s->backend->ops->alloc(s->backend, sizeof(uint32_t), SIM_GRAPH_CONDITION_NAME);
    if (!p->address) return WB_cudaErrorMemoryAllocation;
    add_live(s, p->address, sizeof(uint32_t));
    return 0;
}

int server_on_graph_mailbox(struct server *s, const struct wb_req_graph_mailbox *q,
                            struct message_tail tail, struct wb_rep_graph_mailbox *p,
                            struct buf *out) {
    (void)q, (void)tail, (void)out;
    if (s->options.grading)
        return server_refuse(s, WB_cudaErrorNotSupported,
                             "graphs that kernels launch are not part of exercises");
    if (!s->graph_mailbox)
        s->graph_mailbox = s->backend->ops->alloc(s->backend, sizeof(struct sim_graph_mailbox),
                                                  SIM_GRAPH_MAILBOX_NAME);
    p->address = s->graph_mailbox; /* owned by the program, but not a leak */
    return p->address ? 0 : WB_cudaErrorMemoryAllocation;
}

int server_on_free(struct server *s, const struct wb_req_free *q, struct message_tail tail,
                   struct wb_rep_free *p, struct buf *out) {
    (void)tail, (void)p, (void)out;
    for (unsigned i = 0; i < s->nproblem_buffers; i++)
        if (q->address == s->problem_buffers[i].address)
            return server_refuse(s, WB_cudaErrorNotPermitted,
                                 "`%s` belongs to the exercise: its entry must not free it",
                                 s->problem_buffers[i].name);
    uint64_t bytes = s->live_slots ? s->live_allocations[find_live_slot(s, q->address)].bytes : 0;
    int error = server_exec_free(s, q);
    if (error) return error;
    if (s->has_shared_allocations) server_ipc_forget(s, q->address);
    record_free(s->recording, q, bytes);
    recording_append(s, WB_OP_free, q, sizeof *q, (struct message_tail){0}, 0);
    return 0;
}

int server_on_range(struct server *s, const struct wb_req_range *q, struct message_tail tail,
                    struct wb_rep_range *p, struct buf *out) {
    (void)tail, (void)out;
    p->device = server_device_of(s, q->address);
    return s->backend->ops->find_allocation(s->backend, q->address, &p->start, &p->bytes)
               ? 0
               : WB_cudaErrorInvalidValue;
}

int server_on_memory_info(struct server *s, const struct wb_req_memory_info *q,
                          struct message_tail tail, struct wb_rep_memory_info *p, struct buf *out) {
    (void)q, (void)tail, (void)out;
    uint64_t used = s->backend->ops->memory_used(s->backend);
    p->total = s->backend->memory_bytes;
    p->free = used < p->total ? p->total - used : 0;
    return 0;
}

/* Rows packed in the window. */
static bool fits_window(const struct server *s, uint64_t at, uint64_t width, uint64_t rows,
                        uint64_t *bytes) {
    uint64_t capacity = s->options.window_bytes;
    return !__builtin_mul_overflow(width, rows, bytes) && at <= capacity && *bytes <= capacity - at;
}

/* Makes a private copy, so that the recording holds the written bytes, unless they came in the
 * message itself. */
static int write_recorded(struct server *s, const struct wb_req_write *q, struct message_tail data,
                          bool in_window) {
    uint8_t *copy = in_window ? xmalloc(data.size + 1) : NULL;
    if (copy) memcpy(copy, data.data, data.size), data.data = copy;
    int error = server_exec_write(s, q, data.data);
    if (!error) recording_append(s, WB_OP_write, q, sizeof *q, data, 0);
    free(copy);
    return error;
}

int server_on_write(struct server *s, const struct wb_req_write *q, struct message_tail tail,
                    struct wb_rep_write *p, struct buf *out) {
    (void)p, (void)out;
    uint64_t bytes;
    int error = check_range(s, "copy from the host", q->address, q->pitch, q->width, q->rows);
    if (error) return error;
    if (!fits_window(s, q->window_offset, q->width, q->rows, &bytes) ||
        (tail.size && tail.size != bytes))
        return WB_cudaErrorInvalidValue;
    const struct problem_buffer *buffer = problem_buffer_at(s, q->address);
    if (buffer && s->options.grading)
        return server_refuse(
            s, WB_cudaErrorNotPermitted,
            "`%s` belongs to the exercise: its entry must compute on the device, not copy from the "
            "host into it",
            buffer->name);
    struct message_tail data = {tail.size ? tail.data : s->window + q->window_offset, bytes};
    server_clock_bus_copy(s, true, false, q->address, bytes);
    return s->recording ? write_recorded(s, q, data, !tail.size) : repeats_write(s, q, data);
}

/* Of what is read back. */
static void report_uninitialized(struct server *s, uint64_t address, uint64_t pitch, uint64_t width,
                                 uint64_t rows) {
    const struct backend_ops *ops = s->backend->ops;
    struct sim_report r;
    bool flat = pitch == width || rows == 1;
    for (uint64_t i = 0; s->options.on_report && ops->check_initialized && i < (flat ? 1 : rows);
         i++)
        if (ops->check_initialized(s->backend, address + i * pitch, flat ? width * rows : width,
                                   &r)) {
            repeats_forget(s); /* the bytes count as initialized from now on */
            s->options.on_report(s->options.user, &r);
        }
}

int server_on_read(struct server *s, const struct wb_req_read *q, struct message_tail tail,
                   struct wb_rep_read *p, struct buf *out) {
    (void)tail, (void)p, (void)out;
    uint64_t bytes;
    int error = check_range(s, "copy to the host", q->address, q->pitch, q->width, q->rows);
    if (error) return error;
    if (s->options.grading)
        return server_refuse(s, WB_cudaErrorNotPermitted,
                             "an exercise's entry must not read device memory back: the grader "
                             "records what it launches and "
                             "runs that again with other data; let a kernel make the decision");
    if (!fits_window(s, q->window_offset, q->width, q->rows, &bytes))
        return WB_cudaErrorInvalidValue;
    if (!bytes) return 0;
    uint64_t pitch = q->rows == 1 ? q->width : q->pitch;
    report_host_race(s, "a copy to the host",
                     (struct sim_strided_range){q->address, pitch, q->width, q->rows, false, NULL});
    server_clock_bus_copy(s, false, false, q->address, bytes);
    bool ok = true;
    if (pitch == q->width)
        ok = s->backend->ops->read(s->backend, q->address, s->window + q->window_offset, bytes);
    else
        for (uint64_t r = 0; ok && r < q->rows && (ok = is_before_deadline(s, r)); r++)
            ok = s->backend->ops->read(s->backend, q->address + r * pitch,
                                       s->window + q->window_offset + r * q->width, q->width);
    if (ok) report_uninitialized(s, q->address, pitch, q->width, q->rows);
    return ok ? 0 : WB_cudaErrorInvalidValue;
}

int server_on_fill(struct server *s, const struct wb_req_fill *q, struct message_tail tail,
                   struct wb_rep_fill *p, struct buf *out) {
    (void)tail, (void)p, (void)out;
    int error = check_range(s, "cudaMemset", q->address, q->pitch, q->width, q->rows);
    if (!error && host_buffer_at(s, q->address))
        error = server_refuse(s, WB_cudaErrorNotPermitted,
                              "`%s` lies in host memory: fill device memory and copy it there",
                              host_buffer_at(s, q->address)->name);
    if (!error) error = repeats_fill(s, q);
    if (!error)
        server_clock_device_op(s, server_fill_launch_fraction, (double)q->width * (double)q->rows);
    if (!error) recording_append(s, WB_OP_fill, q, sizeof *q, (struct message_tail){0}, 0);
    return error;
}

/* Memory that host and device share counts as the host's. */
static void clock_copy(struct server *s, const struct wb_req_copy *q) {
    uint64_t bytes = q->width * q->rows;
    bool from_host = q->from - s->backend->base < s->shared_bytes,
         to_host = q->to - s->backend->base < s->shared_bytes;
    unsigned from = server_device_of(s, q->from), to = server_device_of(s, q->to);
    if (!from_host && !to_host && from != to) server_clock_peer_copy(s, from, to, bytes);
    else if (!from_host && !to_host) server_clock_device_op(s, 1, 2 * (double)bytes);
    else if (!(from_host && to_host))
        server_clock_bus_copy(s, from_host, true, from_host ? q->to : q->from, bytes);
}

int server_on_copy(struct server *s, const struct wb_req_copy *q, struct message_tail tail,
                   struct wb_rep_copy *p, struct buf *out) {
    (void)tail, (void)p, (void)out;
    static const char *const direction_names[][2] = {
        [COPY_DEVICE_TO_DEVICE] = {"copy on the device, to", "copy on the device, from"},
        [COPY_HOST_TO_DEVICE] = {"copy from the host, to", "copy from the host, from"},
        [COPY_DEVICE_TO_HOST] = {"copy to the host, to", "copy to the host, from"},
    };
    const char *const *descriptions = direction_names[server_copy_direction(s, q)];
    int error = check_range(s, descriptions[0], q->to, q->to_pitch, q->width, q->rows);
    if (!error) error = check_range(s, descriptions[1], q->from, q->from_pitch, q->width, q->rows);
    if (!error && host_buffer_at(s, q->from) && host_buffer_at(s, q->to))
        error = server_refuse(
            s, WB_cudaErrorNotPermitted,
            "both `%s` and `%s` lie in host memory: copy through device memory instead",
            host_buffer_at(s, q->from)->name, host_buffer_at(s, q->to)->name);
    if (!error && q->to - s->backend->base < s->shared_bytes)
        report_uninitialized(s, q->from, q->from_pitch, q->width, q->rows);
    if (!error) error = repeats_copy(s, q);
    if (!error) clock_copy(s, q);
    if (!error) recording_append(s, WB_OP_copy, q, sizeof *q, (struct message_tail){0}, 0);
    return error;
}
