/* event_clock.c — computes the modelled time of a program's events; server.c and the handlers call
 * it. From the first event on it collects kernels, copies and fills as commands of their streams
 * (grader/sim/timing/timeline.h). When the host has waited for all of them, it times them together,
 * sets the times of their events, and starts a new list. Until the program creates a stream, the
 * order of streams is unknown and the commands of a device run one after another. Host work takes
 * no time. */
#include "common/arena.h"
#include "common/grow.h"
#include "grader/server/internal.h"
#include "grader/server/launch_stats.h"
#include "grader/sim/timing/timeline.h"

#include <stdlib.h>
#include <string.h>

/* The number of commands to time together if the host never waits. */
enum { MAX_COMMANDS = 8192, NO_EVENT = UINT32_MAX };

struct event_clock {
    struct timeline_command *commands;
    uint32_t *event; /* by command: of a mark */
    unsigned ncommands, capacity, event_capacity;
    struct arena clock_arena;
    struct timeline_command next_command; /* of what comes next */
    bool has_order, times_valid; /* the order is known; the list's commands have their times */
    uint32_t last_number[TIMELINE_MAX_STREAMS];
    uint64_t bus_next_address; /* end of the last copy over the bus, because large copies arrive
                                * in pieces */
    double start_seconds;      /* when the list began */
    double *event_seconds;     /* WB_MAX_EVENTS */
};

/* ---- times ---- */

static double run_timeline(struct server *s, struct event_clock *k) {
    struct timeline_rates rates = time_timeline_rates(s->backend->device);
    double total = time_timeline_run(k->commands, k->ncommands, &rates).seconds;
    for (unsigned i = 0; i < k->ncommands; i++)
        if (k->event[i] != NO_EVENT)
            k->event_seconds[k->event[i]] = k->start_seconds + k->commands[i].end;
    k->times_valid = true;
    return total;
}

static void flush_timeline(struct server *s, struct event_clock *k) {
    if (!k->ncommands) return;
    k->start_seconds += run_timeline(s, k) + s->backend->device->host_sync_seconds;
    k->ncommands = 0, k->bus_next_address = 0;
    memset(k->last_number, 0, sizeof k->last_number);
    k->has_order = false;
    k->next_command =
        (struct timeline_command){.after = NULL}; /* the next command brings its own */
    arena_free(&k->clock_arena);
}

static struct event_clock *clock_of(const struct server *s) {
    return s->recording ? NULL : s->clock;
}

/* ---- commands ---- */

static struct timeline_command *append_command(struct server *s, struct event_clock *k,
                                               enum timeline_engine e) {
    if (k->ncommands == MAX_COMMANDS && !k->has_order) flush_timeline(s, k);
    GROW(k->commands, k->ncommands + 1, k->capacity, 64);
    GROW(k->event, k->ncommands + 1, k->event_capacity, 64);
    struct timeline_command *c = &k->commands[k->ncommands];
    *c = k->next_command;
    if (!k->has_order)
        *c = (struct timeline_command){.stream = s->device, .number = k->ncommands + 1};
    c->engine = e;
    c->device = s->device;
    k->event[k->ncommands++] = NO_EVENT;
    if (c->number > k->last_number[c->stream]) k->last_number[c->stream] = c->number;
    k->times_valid = false, k->bus_next_address = 0;
    return c;
}

/* Returns true if the host has waited for all commands of the list; `done`: by stream, the number
 * of the last command that it waited for. */
static bool host_waited_for_all(const struct event_clock *k, const uint32_t *done) {
    for (unsigned i = 0; i < TIMELINE_MAX_STREAMS; i++)
        if (k->last_number[i] > done[i]) return false;
    return true;
}

void server_clock_set_order(struct server *s, const struct wb_req_order *q,
                            struct message_tail tail) {
    struct event_clock *k = clock_of(s);
    enum { BYTES = TIMELINE_MAX_STREAMS * sizeof(uint32_t) };
    if (!k) return;
    bool has_order = q->number && q->stream < TIMELINE_MAX_STREAMS && tail.size == 2 * BYTES,
         had_order = k->next_command.after != NULL;
    bool done = has_order && host_waited_for_all(k, (const void *)(tail.data + BYTES));
    if (has_order != had_order || k->ncommands >= MAX_COMMANDS || done) flush_timeline(s, k);
    k->has_order = has_order;
    k->next_command = (struct timeline_command){.engine = TIMELINE_NONE};
    if (!has_order) return;
    uint32_t *clocks = memcpy(arena_alloc(&k->clock_arena, 2 * BYTES), tail.data, 2 * BYTES);
    k->next_command = (struct timeline_command){.engine = TIMELINE_NONE,
                                                .stream = q->stream,
                                                .number = q->number,
                                                .after = clocks,
                                                .host_done = clocks + TIMELINE_MAX_STREAMS};
    append_command(s, k, TIMELINE_NONE);
}

void server_clock_launch(struct server *s, const struct server_launch *l) {
    struct event_clock *k = clock_of(s);
    if (!k) return;
    struct timeline_command *c = append_command(s, k, TIMELINE_KERNEL);
    c->seconds = l->result->seconds;
    c->device_share = launch_stats_device_share(s->backend->device, l, &l->result->estimate);
}

void server_clock_device_op(struct server *s, double launches, double bytes) {
    struct event_clock *k = clock_of(s);
    const struct gpu_device *d = s->backend->device;
    if (!k) return;
    struct timeline_command *c = append_command(s, k, TIMELINE_KERNEL);
    c->seconds = launches * d->launch_seconds + bytes / d->dram_rate;
    c->device_share = 1;
}

void server_clock_peer_copy(struct server *s, unsigned from, unsigned to, uint64_t bytes) {
    struct event_clock *k = clock_of(s);
    if (!k) return;
    struct timeline_command *c = append_command(s, k, TIMELINE_PEER);
    bool is_direct = (s->peers[from] >> to | s->peers[to] >> from) & 1;
    c->device = from, c->to_device = to;
    time_peer_copy(s->backend->device, (double)bytes, is_direct, s->device != from, c);
}

void server_clock_bus_copy(struct server *s, bool to_device, bool pinned, uint64_t address,
                           uint64_t bytes) {
    struct event_clock *k = clock_of(s);
    if (!k) return;
    bool is_continuation =
        k->bus_next_address && k->bus_next_address == address &&
        k->commands[k->ncommands - 1].engine == (to_device ? TIMELINE_H2D : TIMELINE_D2H);
    struct timeline_command *c =
        is_continuation ? &k->commands[k->ncommands - 1]
                        : append_command(s, k, to_device ? TIMELINE_H2D : TIMELINE_D2H);
    c->bytes += pinned ? (double)bytes : time_pageable_bytes(s->backend->device, (double)bytes);
    k->bus_next_address = address + bytes;
}

/* Without streams, a wait covers all commands. */
void server_clock_sync(struct server *s) {
    struct event_clock *k = clock_of(s);
    if (k && !k->next_command.after) flush_timeline(s, k);
}

/* ---- events ---- */

void server_clock_record_event(struct server *s, uint32_t event) {
    if (!s->clock) s->clock = xcalloc(1, sizeof *s->clock);
    struct event_clock *k = s->clock;
    if (!k->event_seconds) k->event_seconds = xcalloc(WB_MAX_EVENTS, sizeof *k->event_seconds);
    for (unsigned i = 0; i < k->ncommands; i++)
        if (k->event[i] == event) k->event[i] = NO_EVENT; /* recorded anew */
    if (!k->has_order || !k->ncommands) append_command(s, k, TIMELINE_NONE);
    k->event[k->ncommands - 1] = event;
    k->times_valid = false;
}

double server_clock_event_seconds(struct server *s, uint32_t event) {
    struct event_clock *k = s->clock;
    if (!k || !k->event_seconds) return 0;
    if (!k->times_valid && k->ncommands) run_timeline(s, k);
    return k->event_seconds[event];
}

void server_clock_clear(struct server *s) {
    struct event_clock *k = s->clock;
    if (!k) return;
    arena_free(&k->clock_arena);
    free(k->commands), free(k->event), free(k->event_seconds), free(k);
    s->clock = NULL;
}
