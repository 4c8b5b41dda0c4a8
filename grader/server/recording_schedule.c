/* recording_schedule.c — converts a recording to commands of streams and computes their total time
 * (grader/sim/timing/timeline.h). launch_stats.c calls it. */
#include "common/grow.h"
#include "grader/server/internal.h"
#include "grader/server/launch_stats.h"
#include "grader/sim/timing/timeline.h"

#include <stdlib.h>
#include <string.h>

/* The lengths of commands: the launches' times, or what they do, for a critical path. */
enum schedule_column {
    /* SERVER_TIME_MODELED and so on */
    COLUMN_INSTRUCTIONS = SERVER_TIME_COUNT,
    COLUMN_PEER_BYTES
};

struct timeline_builder {
    const struct server *server;
    const struct recording *recording;
    const struct server_launch_time *launch_times;
    unsigned nlaunch_times, next_launch;
    enum schedule_column column;
    bool has_device_times; /* otherwise only copies over the bus take time */
    struct timeline_command *commands;
    unsigned ncommands;
    struct timeline_command next_command; /* of what follows */
    unsigned graph_launch;                /* of the last command */
    bool is_next_node;                    /* the current command is of the same launch */
    bool has_graph;                       /* some launch of a graph has several commands */
    bool has_order,
        has_unordered;    /* the current command's order is known; some command's is unknown */
    uint64_t stream_mask; /* streams with commands, one bit each */
    double bus_bytes;
};

static void apply_order(struct timeline_builder *l, const struct command *c) {
    const struct wb_req_order *q = (const void *)(l->recording->bytes.data + c->request);
    const uint32_t *clocks = (const void *)(l->recording->bytes.data + c->tail);
    l->has_order = q->number && q->stream < TIMELINE_MAX_STREAMS &&
                   c->tail_size == 2 * TIMELINE_MAX_STREAMS * sizeof *clocks;
    l->next_command = (struct timeline_command){
        .engine = TIMELINE_NONE, .stream = q->stream, .number = q->number, .device = c->device};
    if (!l->has_order) return;
    l->next_command.after = clocks, l->next_command.host_done = clocks + TIMELINE_MAX_STREAMS;
    l->commands[l->ncommands++] = l->next_command; /* the event's number */
}

static struct timeline_command *add(struct timeline_builder *l, enum timeline_engine e) {
    struct timeline_command *c = &l->commands[l->ncommands++];
    *c = l->next_command;
    c->engine = e;
    c->in_same_call = l->is_next_node;
    l->has_graph |= c->in_same_call;
    l->has_unordered |= !l->has_order;
    if (l->has_order) l->stream_mask |= 1ull << c->stream;
    return c;
}

static void add_bus_copy(struct timeline_builder *l, enum timeline_engine e, double bytes) {
    add(l, e)->bytes = bytes;
    l->bus_bytes += bytes;
}

/* Copies within the device, and fills, occupy the whole device. */
static void add_device_op(struct timeline_builder *l, double launches, double bytes) {
    const struct gpu_device *d = l->server->backend->device;
    struct timeline_command *c = add(l, TIMELINE_KERNEL);
    c->device_share = 1;
    if (l->has_device_times) c->seconds = launches * d->launch_seconds + bytes / d->dram_rate;
}

/* As in event_clock.c; grading devices with a link have peer access. */
static void add_peer_copy(struct timeline_builder *l, const struct peer_copy *p, unsigned device) {
    const struct gpu_device *d = l->server->backend->device;
    struct timeline_command *c = add(l, TIMELINE_PEER);
    c->device = p->from, c->to_device = p->to;
    if (l->has_device_times) time_peer_copy(d, p->bytes, d->peer_rate > 0, device != p->from, c);
    else c->bytes = p->bytes;
}

static void add_copy(struct timeline_builder *l, const struct command *command,
                     const struct wb_req_copy *q) {
    enum copy_direction direction = server_copy_direction(l->server, q);
    double bytes = (double)q->width * (double)q->rows;
    struct peer_copy peer;
    if (recording_is_peer_copy(l->server, l->recording, command, &peer))
        add_peer_copy(l, &peer, command->device);
    else if (direction == COPY_DEVICE_TO_DEVICE) add_device_op(l, 1, 2 * bytes);
    else add_bus_copy(l, direction == COPY_HOST_TO_DEVICE ? TIMELINE_H2D : TIMELINE_D2H, bytes);
}

static double launch_length(const struct timeline_builder *l, const struct server_launch_time *t) {
    if (l->column == COLUMN_INSTRUCTIONS) return t->instructions;
    return l->has_device_times ? t->seconds[l->column] : 0;
}

static void add_launch(struct timeline_builder *l) {
    struct timeline_command *c = add(l, TIMELINE_KERNEL);
    const struct server_launch_time *t =
        l->next_launch < l->nlaunch_times ? &l->launch_times[l->next_launch++] : NULL;
    c->device_share = t && l->has_device_times ? t->device_share : 1;
    c->seconds = t ? launch_length(l, t) : 0;
}

static void add_command(struct timeline_builder *l, const struct command *c) {
    const void *q = l->recording->bytes.data + c->request;
    const struct wb_req_write *w = q;
    const struct wb_req_fill *f = q;
    if (c->op == WB_OP_order) {
        apply_order(l, c);
        return;
    }
    l->is_next_node = c->graph_launch && c->graph_launch == l->graph_launch;
    l->graph_launch = c->graph_launch;
    if (c->op == WB_OP_launch) add_launch(l);
    else if (c->op == WB_OP_copy) add_copy(l, c, q);
    else if (c->op == WB_OP_write)
        add_bus_copy(
            l, TIMELINE_H2D,
            time_pageable_bytes(l->server->backend->device, (double)w->width * (double)w->rows));
    else if (c->op == WB_OP_fill)
        add_device_op(l, server_fill_launch_fraction, (double)f->width * (double)f->rows);
}

static bool has_host_buffer(const struct server *s) {
    for (unsigned i = 0; i < s->nproblem_buffers; i++)
        if (s->problem_buffers[i].is_host_memory) return true;
    return false;
}

/* One behind another. */
static void serialize_commands(struct timeline_builder *l) {
    for (unsigned i = 0; i < l->ncommands; i++) {
        struct timeline_command *c = &l->commands[i];
        c->stream = 0, c->number = i + 1, c->after = c->host_done = NULL;
    }
}

static void copy_spans(const struct timeline_builder *l, struct server_schedule *out) {
    out->nspans = 0;
    for (unsigned i = 0; i < l->ncommands && out->nspans < SERVER_MAX_SPANS; i++) {
        const struct timeline_command *c = &l->commands[i];
        if (c->engine != TIMELINE_NONE && c->end > c->begin)
            out->spans[out->nspans++] =
                (struct server_span){c->begin, c->end, (uint32_t)c->engine, c->stream};
    }
}

/* Returns false if times add up: a single stream without graphs or an unknown order, and no host
 * memory. `spans` receives when each command runs; NULL = not needed. */
static bool schedule_recording(const struct server *s, const struct recording *r,
                               const struct server_launch_time *launches, unsigned n,
                               enum schedule_column column, const struct timeline_rates *rates,
                               struct timeline_total *out, struct server_schedule *spans) {
    struct timeline_builder l = {.server = s,
                                 .recording = r,
                                 .launch_times = launches,
                                 .nlaunch_times = n,
                                 .column = column};
    l.has_device_times = rates->engine_switch > 0;
    l.commands = xcalloc(r->ncommands + 1, sizeof *l.commands);
    for (size_t i = 0; i < r->ncommands; i++) add_command(&l, &r->commands[i]);
    bool is_multi_stream = l.stream_mask & (l.stream_mask - 1),
         uses_bus = has_host_buffer(s) && l.bus_bytes > 0;
    bool ok = uses_bus || s->backend->ndevices > 1 || (is_multi_stream && !l.has_unordered) ||
              l.has_graph;
    if (l.has_unordered) serialize_commands(&l);
    if (ok) *out = time_timeline_run(l.commands, l.ncommands, rates);
    if (ok && spans) copy_spans(&l, spans);
    free(l.commands);
    return ok;
}

bool recording_schedule(const struct server *s, const struct recording *r,
                        const struct server_launch_time *launches, unsigned n,
                        struct server_schedule *out) {
    struct timeline_rates rates = time_timeline_rates(s->backend->device);
    struct timeline_total t;
    _Static_assert((int)SERVER_ENGINE_COUNT == (int)TIMELINE_NONE, "one list of engines");
    for (unsigned column = 0; column < SERVER_TIME_COUNT; column++) {
        if (!schedule_recording(s, r, launches, n, column, &rates, &t, column ? NULL : out))
            return false;
        out->seconds[column] = t.seconds;
        if (column == 0) memcpy(out->engine_busy, t.engine_busy, sizeof out->engine_busy);
    }
    return true;
}

/* Counts a second per byte in either direction, and nothing for other commands. */
double recording_bus_critical_path(const struct server *s, const struct recording *r) {
    static const struct timeline_rates rates = {.h2d = 1, .d2h = 1, .bidirectional = 2};
    struct timeline_total t = {0};
    return schedule_recording(s, r, NULL, 0, 0, &rates, &t, NULL) ? t.seconds : 0;
}

/* Everything but the commands in question takes next to no time. */
void recording_peer_critical_paths(const struct server *s, const struct recording *r,
                                   const struct server_launch_time *launches, unsigned n,
                                   struct server_peer_traffic *out) {
    static const double at_once = 1e100;
    struct timeline_rates rates = {.h2d = at_once, .d2h = at_once, .bidirectional = 2 * at_once};
    struct timeline_total t = {0};
    rates.peer = 1;
    if (schedule_recording(s, r, launches, n, COLUMN_PEER_BYTES, &rates, &t, NULL))
        out->critical_path_bytes = t.seconds;
    rates.peer = at_once;
    if (schedule_recording(s, r, launches, n, COLUMN_INSTRUCTIONS, &rates, &t, NULL))
        out->kernel_critical_path = t.seconds;
}

/* ---- dependencies ---- */

/* The orders of a stream, as indices of commands, ascending in their numbers. */
struct order_list {
    uint32_t *index;
    size_t n, capacity;
};
struct wait_marker {
    struct recording *recording;
    struct order_list orders[TIMELINE_MAX_STREAMS];
    uint32_t seen_clock[TIMELINE_MAX_STREAMS + 1]
                       [TIMELINE_MAX_STREAMS]; /* commands that each stream already follows; the
                                                * last entry is the host's */
};

static const struct wb_req_order *order_at(const struct recording *r, size_t i) {
    return (const void *)(r->bytes.data + r->commands[i].request);
}

/* The first with this number, if any; later repetitions belong to it. */
static void mark_waited_command(struct wait_marker *w, uint32_t stream, uint32_t number) {
    const struct order_list *o = &w->orders[stream];
    size_t low = 0, high = o->n;
    while (low < high) {
        size_t mid = (low + high) / 2;
        if (order_at(w->recording, o->index[mid])->number < number) low = mid + 1;
        else high = mid;
    }
    for (; low < o->n && order_at(w->recording, o->index[low])->number == number; low++)
        w->recording->commands[o->index[low]].has_waiter = true;
}

static void mark_new_waits(struct wait_marker *w, uint32_t seen_clock[TIMELINE_MAX_STREAMS],
                           uint32_t self, const uint32_t *clock) {
    for (uint32_t k = 0; k < TIMELINE_MAX_STREAMS; k++) {
        if (clock[k] <= seen_clock[k]) continue;
        seen_clock[k] = clock[k];
        if (k != self) mark_waited_command(w, k, clock[k]);
    }
}

void recording_mark_waiters(struct recording *r) {
    struct wait_marker *w = xcalloc(1, sizeof *w);
    uint64_t stream_mask = 0;
    w->recording = r;
    for (size_t i = 0; i < r->ncommands; i++) {
        const struct wb_req_order *q = order_at(r, i);
        const uint32_t *clocks = (const void *)(r->bytes.data + r->commands[i].tail);
        if (r->commands[i].op != WB_OP_order || q->stream >= TIMELINE_MAX_STREAMS ||
            r->commands[i].tail_size != 2 * TIMELINE_MAX_STREAMS * sizeof *clocks)
            continue;
        mark_new_waits(w, w->seen_clock[q->stream], q->stream, clocks);
        mark_new_waits(w, w->seen_clock[TIMELINE_MAX_STREAMS], TIMELINE_MAX_STREAMS,
                       clocks + TIMELINE_MAX_STREAMS);
        stream_mask |= 1ull << q->stream;
        struct order_list *o = &w->orders[q->stream];
        GROW(o->index, o->n + 1, o->capacity, 16);
        o->index[o->n++] = (uint32_t)i;
    }
    r->has_several_streams = stream_mask & (stream_mask - 1);
    for (unsigned s = 0; s < TIMELINE_MAX_STREAMS; s++) free(w->orders[s].index);
    free(w);
}
