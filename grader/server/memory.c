/* memory.c — the device server's memory messages. A two-dimensional range is checked as a whole
 * before anything is touched. While grading, device memory flows one way: the client may fill
 * temporaries, it may not look. */
#include "grader/server/internal.h"
#include "grader/server/tally.h"

#include <stdlib.h>
#include <string.h>

/* Bytes from the first to the last byte of `rows` rows; false if they overlap or the figure
 * overflows. */
static bool extent(uint64_t pitch, uint64_t width, uint64_t rows, uint64_t *bytes) {
    *bytes = 0;
    if (!width || !rows) return true;
    if (rows > 1 && pitch < width) return false;
    uint64_t strides;
    return !__builtin_mul_overflow(rows - 1, rows > 1 ? pitch : 0, &strides) &&
           !__builtin_add_overflow(strides, width, bytes);
}

static bool inside_one(struct server *s, uint64_t address, uint64_t bytes) {
    uint64_t start, size;
    if (!s->backend->ops->range(s->backend, address, &start, &size)) return false;
    return address - start <= size && bytes <= size - (address - start);
}

static int check_range(struct server *s, const char *what, uint64_t address, uint64_t pitch,
                       uint64_t width, uint64_t rows) {
    uint64_t bytes;
    if (!extent(pitch, width, rows, &bytes)) return WB_cudaErrorInvalidPitchValue;
    if (!bytes || inside_one(s, address, bytes)) return 0;
    return server_refuse(s, WB_cudaErrorInvalidValue,
                         "%s: %llu bytes at 0x%llx do not lie in one allocation of the device",
                         what, (unsigned long long)bytes, (unsigned long long)address);
}

static const struct own_buffer *own_at(const struct server *s, uint64_t address) {
    for (unsigned i = 0; i < s->nown; i++)
        if (address >= s->own[i].address && address <= s->own[i].address + s->own[i].bytes)
            return &s->own[i];
    return NULL;
}

/* The exercise's buffer in the host's memory that holds the address. */
static const struct own_buffer *host_at(const struct server *s, uint64_t address) {
    for (unsigned i = 0; i < s->nown; i++)
        if (s->own[i].host && address - s->own[i].address < s->own[i].bytes) return &s->own[i];
    return NULL;
}

enum server_way server_way_of(const struct server *s, const struct wb_req_copy *q) {
    return host_at(s, q->from) ? SERVER_WAY_IN
           : host_at(s, q->to) ? SERVER_WAY_OUT
                               : SERVER_WAY_WITHIN;
}

/* ---- carried out live and in replays ---- */

static unsigned live_home(const struct server *s, uint64_t address) {
    return (unsigned)(address * 0x9e3779b97f4a7c15ull >> 32) & (s->live_places - 1);
}

/* Where it is, or where it would be put. */
static unsigned live_place(const struct server *s, uint64_t address) {
    unsigned i = live_home(s, address);
    while (s->live[i].address && s->live[i].address != address) i = (i + 1) & (s->live_places - 1);
    return i;
}

static void grow_live(struct server *s) {
    struct live_allocation *old = s->live;
    unsigned n = s->live_places;
    s->live_places = n ? 2 * n : 64;
    s->live = xcalloc(s->live_places, sizeof *s->live);
    for (unsigned i = 0; i < n; i++)
        if (old[i].address) s->live[live_place(s, old[i].address)] = old[i];
    free(old);
}

static void add_live(struct server *s, uint64_t address, uint64_t bytes) {
    if (2 * s->nlive >= s->live_places) grow_live(s);
    s->live[live_place(s, address)] = (struct live_allocation){address, bytes, s->allocations};
    s->nlive++;
}

/* What would not be found behind the gap any more moves into it. */
static void remove_live(struct server *s, uint64_t address) {
    unsigned mask = s->live_places - 1, gap = s->live_places ? live_place(s, address) : 0;
    if (!s->live_places || !s->live[gap].address) return;
    s->nlive--;
    for (unsigned i = (gap + 1) & mask; s->live[i].address; i = (i + 1) & mask) {
        unsigned home = live_home(s, s->live[i].address);
        if (((i - home) & mask) < ((i - gap) & mask)) continue;
        s->live[gap] = s->live[i];
        gap = i;
    }
    s->live[gap].address = 0;
}

void server_forget_live(struct server *s) {
    free(s->live);
    s->live = NULL;
    s->nlive = s->live_places = 0;
}

int server_do_alloc(struct server *s, const struct wb_req_alloc *q, uint64_t *address) {
    char name[40];
    snprintf(name, sizeof name, "cudaMalloc #%u", ++s->allocations);
    *address = s->backend->ops->alloc(s->backend, q->bytes, name);
    if (*address) return add_live(s, *address, q->bytes), 0;
    return server_refuse(s, WB_cudaErrorMemoryAllocation,
                         "no room for %llu bytes: %llu of %llu bytes of device memory are in use",
                         (unsigned long long)q->bytes,
                         (unsigned long long)s->backend->ops->memory_used(s->backend),
                         (unsigned long long)s->backend->memory_bytes);
}

int server_do_free(struct server *s, const struct wb_req_free *q) {
    if (!s->backend->ops->free(s->backend, q->address))
        return server_refuse(
            s, WB_cudaErrorInvalidValue,
            "freeing 0x%llx, which is not the start of a live allocation (freed twice?)",
            (unsigned long long)q->address);
    remove_live(s, q->address);
    return 0;
}

static void clear_order(struct server *s) {
    if (s->in_streams) s->backend->ops->order(s->backend, NULL);
    s->in_streams = false;
}

void server_do_order(struct server *s, const struct wb_req_order *q, struct tail tail,
                     bool waited) {
    struct sim_stream_clock o = {
        .stream = q->stream, .sequence = q->number, .has_dependent = waited};
    _Static_assert((int)WB_STREAMS == (int)SIM_MAX_STREAMS, "one list");
    if (!s->backend->ops->order) return;
    if (!q->number || tail.size != sizeof o.ordered_after + sizeof o.permanently_after)
        return clear_order(s);
    memcpy(o.ordered_after, tail.data, sizeof o.ordered_after);
    memcpy(o.permanently_after, tail.data + sizeof o.ordered_after, sizeof o.permanently_after);
    s->in_streams = true;
    s->backend->ops->order(s->backend, &o);
}

static void tell_access(struct server *s, const char *what, struct sim_strided_range r) {
    struct sim_report report;
    if (!s->in_streams || !s->backend->ops->accessed || !r.width || !r.rows) return;
    if (s->backend->ops->accessed(s->backend, what, &r, &report) && s->options.reported)
        s->options.reported(s->options.user, &report);
}

/* A hostile pitch makes for a billion rows: the deadline holds here too. */
static bool in_time(const struct server *s, uint64_t row) {
    return row % 4096 || !s->deadline || server_now() < s->deadline;
}

int server_do_write(struct server *s, const struct wb_req_write *q, const uint8_t *data) {
    bool ok = true;
    if (!q->width || !q->rows) return 0;
    tell_access(s, "a copy from the host",
                (struct sim_strided_range){q->address, q->pitch, q->width, q->rows, true});
    if (q->pitch == q->width || q->rows == 1)
        return s->backend->ops->write(s->backend, q->address, data, q->width * q->rows)
                   ? 0
                   : WB_cudaErrorInvalidValue;
    for (uint64_t r = 0; ok && r < q->rows && (ok = in_time(s, r)); r++)
        ok = s->backend->ops->write(s->backend, q->address + r * q->pitch, data + r * q->width,
                                    q->width);
    return ok ? 0 : WB_cudaErrorInvalidValue;
}

int server_do_fill(struct server *s, const struct wb_req_fill *q) {
    bool ok = true;
    if (!q->width || !q->rows) return 0;
    tell_access(s, "cudaMemset",
                (struct sim_strided_range){q->address, q->pitch, q->width, q->rows, true});
    if (q->pitch == q->width || q->rows == 1)
        return s->backend->ops->fill(s->backend, q->address, (uint8_t)q->value, q->width * q->rows)
                   ? 0
                   : WB_cudaErrorInvalidValue;
    for (uint64_t r = 0; ok && r < q->rows && (ok = in_time(s, r)); r++)
        ok = s->backend->ops->fill(s->backend, q->address + r * q->pitch, (uint8_t)q->value,
                                   q->width);
    return ok ? 0 : WB_cudaErrorInvalidValue;
}

int server_do_copy(struct server *s, const struct wb_req_copy *q) {
    if (!q->width || !q->rows) return 0;
    const char *what =
        q->from - s->backend->base < s->shared_bytes || host_at(s, q->from) ? "a copy from the host"
        : q->to - s->backend->base < s->shared_bytes || host_at(s, q->to)   ? "a copy to the host"
                                                                          : "a copy on the device";
    tell_access(s, what,
                (struct sim_strided_range){q->from, q->from_pitch, q->width, q->rows, false});
    tell_access(s, what, (struct sim_strided_range){q->to, q->to_pitch, q->width, q->rows, true});
    bool ok = true, flat = (q->to_pitch == q->width && q->from_pitch == q->width) || q->rows == 1;
    if (flat)
        return s->backend->ops->copy(s->backend, q->to, q->from, q->width * q->rows)
                   ? 0
                   : WB_cudaErrorInvalidValue;
    for (uint64_t r = 0; ok && r < q->rows && (ok = in_time(s, r)); r++)
        ok = s->backend->ops->copy(s->backend, q->to + r * q->to_pitch, q->from + r * q->from_pitch,
                                   q->width);
    return ok ? 0 : WB_cudaErrorInvalidValue;
}

/* ---- messages ---- */

int server_on_order(struct server *s, const struct wb_req_order *q, struct tail tail,
                    struct wb_rep_order *p, struct buf *out) {
    (void)p, (void)out;
    server_do_order(s, q, tail, false);
    server_clock_order(s, q, tail);
    recording_append(s, WB_OP_order, q, sizeof *q, tail, 0);
    return 0;
}

int server_on_alloc(struct server *s, const struct wb_req_alloc *q, struct tail tail,
                    struct wb_rep_alloc *p, struct buf *out) {
    (void)tail, (void)out;
    int error = server_do_alloc(s, q, &p->address);
    if (!error) recording_append(s, WB_OP_alloc, q, sizeof *q, (struct tail){0}, p->address);
    return error;
}

int server_on_alloc_shared(struct server *s, const struct wb_req_alloc_shared *q, struct tail tail,
                           struct wb_rep_alloc_shared *p, struct buf *out) {
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
    if (p->address) return add_live(s, p->address, q->bytes), 0;
    return server_refuse(s, WB_cudaErrorMemoryAllocation,
                         "no room for %llu bytes: host and device share %llu at most",
                         (unsigned long long)q->bytes, (unsigned long long)s->shared_bytes);
}

int server_on_condition(struct server *s, const struct wb_req_condition *q, struct tail tail,
                        struct wb_rep_condition *p, struct buf *out) {
    (void)q, (void)tail, (void)out;
    if (s->options.grading)
        return server_refuse(s, WB_cudaErrorNotSupported,
                             "conditional nodes of graphs are not part of exercises");
    p->address = s->backend->ops->alloc(s->backend, sizeof(uint32_t), SIM_GRAPH_CONDITION_NAME);
    if (!p->address) return WB_cudaErrorMemoryAllocation;
    add_live(s, p->address, sizeof(uint32_t));
    return 0;
}

int server_on_graph_box(struct server *s, const struct wb_req_graph_box *q, struct tail tail,
                        struct wb_rep_graph_box *p, struct buf *out) {
    (void)q, (void)tail, (void)out;
    if (s->options.grading)
        return server_refuse(s, WB_cudaErrorNotSupported,
                             "graphs that kernels launch are not part of exercises");
    if (!s->graph_box)
        s->graph_box = s->backend->ops->alloc(s->backend, sizeof(struct sim_graph_mailbox),
                                              SIM_GRAPH_MAILBOX_NAME);
    p->address = s->graph_box; /* the program's, but no leak of it */
    return p->address ? 0 : WB_cudaErrorMemoryAllocation;
}

int server_on_free(struct server *s, const struct wb_req_free *q, struct tail tail,
                   struct wb_rep_free *p, struct buf *out) {
    (void)tail, (void)p, (void)out;
    for (unsigned i = 0; i < s->nown; i++)
        if (q->address == s->own[i].address)
            return server_refuse(s, WB_cudaErrorNotPermitted,
                                 "`%s` belongs to the exercise: its entry must not free it",
                                 s->own[i].name);
    int error = server_do_free(s, q);
    if (!error) recording_append(s, WB_OP_free, q, sizeof *q, (struct tail){0}, 0);
    return error;
}

int server_on_range(struct server *s, const struct wb_req_range *q, struct tail tail,
                    struct wb_rep_range *p, struct buf *out) {
    (void)tail, (void)out;
    return s->backend->ops->range(s->backend, q->address, &p->start, &p->bytes)
               ? 0
               : WB_cudaErrorInvalidValue;
}

int server_on_memory_info(struct server *s, const struct wb_req_memory_info *q, struct tail tail,
                          struct wb_rep_memory_info *p, struct buf *out) {
    (void)q, (void)tail, (void)out;
    uint64_t used = s->backend->ops->memory_used(s->backend);
    p->total = s->backend->memory_bytes;
    p->free = used < p->total ? p->total - used : 0;
    return 0;
}

/* Rows packed in the window. */
static bool fits_window(const struct server *s, uint64_t at, uint64_t width, uint64_t rows,
                        uint64_t *bytes) {
    uint64_t room = s->options.window_bytes;
    return !__builtin_mul_overflow(width, rows, bytes) && at <= room && *bytes <= room - at;
}

/* What is recorded must be what was written: a private copy, unless it came in the message itself.
 */
static int write_recorded(struct server *s, const struct wb_req_write *q, struct tail data,
                          bool in_window) {
    uint8_t *copy = in_window ? xmalloc(data.size + 1) : NULL;
    if (copy) memcpy(copy, data.data, data.size), data.data = copy;
    int error = server_do_write(s, q, data.data);
    if (!error) recording_append(s, WB_OP_write, q, sizeof *q, data, 0);
    free(copy);
    return error;
}

int server_on_write(struct server *s, const struct wb_req_write *q, struct tail tail,
                    struct wb_rep_write *p, struct buf *out) {
    (void)p, (void)out;
    uint64_t bytes;
    int error = check_range(s, "copy from the host", q->address, q->pitch, q->width, q->rows);
    if (error) return error;
    if (!fits_window(s, q->at, q->width, q->rows, &bytes) || (tail.size && tail.size != bytes))
        return WB_cudaErrorInvalidValue;
    const struct own_buffer *own = own_at(s, q->address);
    if (own && s->options.grading)
        return server_refuse(
            s, WB_cudaErrorNotPermitted,
            "`%s` belongs to the exercise: its entry must compute on the device, not copy from the "
            "host into it",
            own->name);
    struct tail data = {tail.size ? tail.data : s->window + q->at, bytes};
    server_clock_bus(s, true, false, q->address, bytes);
    return s->recording ? write_recorded(s, q, data, !tail.size) : server_do_write(s, q, data.data);
}

/* Of what is read back. */
static void tell_undefined(struct server *s, uint64_t address, uint64_t pitch, uint64_t width,
                           uint64_t rows) {
    const struct backend_ops *ops = s->backend->ops;
    struct sim_report r;
    bool flat = pitch == width || rows == 1;
    for (uint64_t i = 0; s->options.reported && ops->undefined && i < (flat ? 1 : rows); i++)
        if (ops->undefined(s->backend, address + i * pitch, flat ? width * rows : width, &r))
            s->options.reported(s->options.user, &r);
}

int server_on_read(struct server *s, const struct wb_req_read *q, struct tail tail,
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
    if (!fits_window(s, q->at, q->width, q->rows, &bytes)) return WB_cudaErrorInvalidValue;
    if (!bytes) return 0;
    uint64_t pitch = q->rows == 1 ? q->width : q->pitch;
    tell_access(s, "a copy to the host",
                (struct sim_strided_range){q->address, pitch, q->width, q->rows, false});
    server_clock_bus(s, false, false, q->address, bytes);
    bool ok = true;
    if (pitch == q->width)
        ok = s->backend->ops->read(s->backend, q->address, s->window + q->at, bytes);
    else
        for (uint64_t r = 0; ok && r < q->rows && (ok = in_time(s, r)); r++)
            ok = s->backend->ops->read(s->backend, q->address + r * pitch,
                                       s->window + q->at + r * q->width, q->width);
    if (ok) tell_undefined(s, q->address, pitch, q->width, q->rows);
    return ok ? 0 : WB_cudaErrorInvalidValue;
}

int server_on_fill(struct server *s, const struct wb_req_fill *q, struct tail tail,
                   struct wb_rep_fill *p, struct buf *out) {
    (void)tail, (void)p, (void)out;
    int error = check_range(s, "cudaMemset", q->address, q->pitch, q->width, q->rows);
    if (!error && host_at(s, q->address))
        error =
            server_refuse(s, WB_cudaErrorNotPermitted,
                          "`%s` lies in the host's memory: fill device memory, and copy it there",
                          host_at(s, q->address)->name);
    if (!error) error = server_do_fill(s, q);
    if (!error) server_clock_inside(s, server_fill_launches, (double)q->width * (double)q->rows);
    if (!error) recording_append(s, WB_OP_fill, q, sizeof *q, (struct tail){0}, 0);
    return error;
}

/* Memory that host and device share is at home with the host. */
static void time_copy(struct server *s, const struct wb_req_copy *q) {
    uint64_t bytes = q->width * q->rows;
    bool from_host = q->from - s->backend->base < s->shared_bytes,
         to_host = q->to - s->backend->base < s->shared_bytes;
    if (!from_host && !to_host) server_clock_inside(s, 1, 2 * (double)bytes);
    else if (!(from_host && to_host))
        server_clock_bus(s, from_host, true, from_host ? q->to : q->from, bytes);
}

int server_on_copy(struct server *s, const struct wb_req_copy *q, struct tail tail,
                   struct wb_rep_copy *p, struct buf *out) {
    (void)tail, (void)p, (void)out;
    static const char *const ends[][2] = {
        [SERVER_WAY_WITHIN] = {"copy on the device, to", "copy on the device, from"},
        [SERVER_WAY_IN] = {"copy from the host, to", "copy from the host, from"},
        [SERVER_WAY_OUT] = {"copy to the host, to", "copy to the host, from"},
    };
    const char *const *what = ends[server_way_of(s, q)];
    int error = check_range(s, what[0], q->to, q->to_pitch, q->width, q->rows);
    if (!error) error = check_range(s, what[1], q->from, q->from_pitch, q->width, q->rows);
    if (!error && host_at(s, q->from) && host_at(s, q->to))
        error = server_refuse(
            s, WB_cudaErrorNotPermitted,
            "both `%s` and `%s` lie in the host's memory: the way goes through the device",
            host_at(s, q->from)->name, host_at(s, q->to)->name);
    if (!error && q->to - s->backend->base < s->shared_bytes)
        tell_undefined(s, q->from, q->from_pitch, q->width, q->rows);
    if (!error) error = server_do_copy(s, q);
    if (!error) time_copy(s, q);
    if (!error) recording_append(s, WB_OP_copy, q, sizeof *q, (struct tail){0}, 0);
    return error;
}
