/* clock.c — when each event of a program is reached, in modelled time. From the first event on the
 * program's kernels, copies and fills are kept as commands of its streams
 * (grader/sim/timing/timeline.h), up to where the host has waited for all of them: there they are
 * timed together, events among them get their times, and the next ones begin anew. Without the
 * order of streams, which the runtime tells once a program has made one, they come one behind
 * another. The host's own work takes no time. */
#include "common/arena.h"
#include "common/grow.h"
#include "grader/server/internal.h"
#include "grader/server/tally.h"
#include "grader/sim/timing/timeline.h"

#include <stdlib.h>
#include <string.h>

/* Of commands that the host waits for never, so many are timed together. */
enum { MOST_COMMANDS = 8192, NO_EVENT = UINT32_MAX };

struct server_clock {
    struct timeline_command *c;
    uint32_t *event; /* by command: of a mark */
    unsigned n, room, event_room;
    struct arena clocks;
    struct timeline_command order; /* of what comes next */
    bool ordered, timed;           /* the order is known; those in the list have their times */
    uint32_t last[TIMELINE_STREAMS];
    uint64_t bus_end; /* where the last command stopped, if it goes over the bus: large copies come
                         in pieces */
    double begun;     /* when the list began */
    double *seconds;  /* WB_EVENTS */
};

/* ---- times ---- */

static double time_all(struct server *s, struct server_clock *k) {
    struct timeline_rates rates = time_line_rates(s->backend->device);
    double all = time_line_run(k->c, k->n, &rates).seconds;
    for (unsigned i = 0; i < k->n; i++)
        if (k->event[i] != NO_EVENT) k->seconds[k->event[i]] = k->begun + k->c[i].end;
    k->timed = true;
    return all;
}

static void settle(struct server *s, struct server_clock *k) {
    if (!k->n) return;
    k->begun += time_all(s, k) + s->backend->device->host_sync_seconds;
    k->n = 0, k->bus_end = 0;
    memset(k->last, 0, sizeof k->last);
    k->ordered = false;
    k->order = (struct timeline_command){.after = NULL}; /* the next command's comes with it */
    arena_free(&k->clocks);
}

static struct server_clock *clock_of(const struct server *s) {
    return s->recording ? NULL : s->clock;
}

/* ---- commands ---- */

static struct timeline_command *add(struct server *s, struct server_clock *k,
                                    enum timeline_engine e) {
    if (k->n == MOST_COMMANDS && !k->ordered) settle(s, k);
    GROW(k->c, k->n + 1, k->room, 64);
    GROW(k->event, k->n + 1, k->event_room, 64);
    struct timeline_command *c = &k->c[k->n];
    *c = k->order;
    if (!k->ordered) *c = (struct timeline_command){.number = k->n + 1};
    c->engine = e;
    k->event[k->n++] = NO_EVENT;
    if (c->number > k->last[c->stream]) k->last[c->stream] = c->number;
    k->timed = false, k->bus_end = 0;
    return c;
}

/* The host has waited for all that is in the list. */
static bool all_done(const struct server_clock *k, const uint32_t *done) {
    for (unsigned i = 0; i < TIMELINE_STREAMS; i++)
        if (k->last[i] > done[i]) return false;
    return true;
}

void server_clock_order(struct server *s, const struct wb_req_order *q, struct tail tail) {
    struct server_clock *k = clock_of(s);
    enum { BYTES = TIMELINE_STREAMS * sizeof(uint32_t) };
    if (!k) return;
    bool known = q->number && q->stream < TIMELINE_STREAMS && tail.size == 2 * BYTES,
         was = k->order.after != NULL;
    bool done = known && all_done(k, (const void *)(tail.data + BYTES));
    if (known != was || k->n >= MOST_COMMANDS || done) settle(s, k);
    k->ordered = known;
    k->order = (struct timeline_command){.engine = TIMELINE_NONE};
    if (!known) return;
    uint32_t *clocks = memcpy(arena_alloc(&k->clocks, 2 * BYTES), tail.data, 2 * BYTES);
    k->order = (struct timeline_command){.engine = TIMELINE_NONE,
                                         .stream = q->stream,
                                         .number = q->number,
                                         .after = clocks,
                                         .done = clocks + TIMELINE_STREAMS};
    add(s, k, TIMELINE_NONE);
}

void server_clock_launch(struct server *s, const struct server_launch *l) {
    struct server_clock *k = clock_of(s);
    if (!k) return;
    struct timeline_command *c = add(s, k, TIMELINE_KERNEL);
    c->seconds = l->result->seconds;
    c->share = tally_share(s->backend->device, l, &l->result->estimate);
}

void server_clock_inside(struct server *s, double launches, double bytes) {
    struct server_clock *k = clock_of(s);
    const struct gpu_device *d = s->backend->device;
    if (!k) return;
    struct timeline_command *c = add(s, k, TIMELINE_KERNEL);
    c->seconds = launches * d->launch_seconds + bytes / d->dram_rate;
    c->share = 1;
}

void server_clock_bus(struct server *s, bool in, bool pinned, uint64_t address, uint64_t bytes) {
    struct server_clock *k = clock_of(s);
    if (!k) return;
    bool goes_on = k->bus_end && k->bus_end == address &&
                   k->c[k->n - 1].engine == (in ? TIMELINE_IN : TIMELINE_OUT);
    struct timeline_command *c =
        goes_on ? &k->c[k->n - 1] : add(s, k, in ? TIMELINE_IN : TIMELINE_OUT);
    c->bytes += pinned ? (double)bytes : time_line_pageable(s->backend->device, (double)bytes);
    k->bus_end = address + bytes;
}

/* Without streams the host waits for all when it waits. */
void server_clock_sync(struct server *s) {
    struct server_clock *k = clock_of(s);
    if (k && !k->order.after) settle(s, k);
}

/* ---- events ---- */

void server_clock_event(struct server *s, uint32_t event) {
    if (!s->clock) s->clock = xcalloc(1, sizeof *s->clock);
    struct server_clock *k = s->clock;
    if (!k->seconds) k->seconds = xcalloc(WB_EVENTS, sizeof *k->seconds);
    for (unsigned i = 0; i < k->n; i++)
        if (k->event[i] == event) k->event[i] = NO_EVENT; /* recorded anew */
    if (!k->ordered || !k->n) add(s, k, TIMELINE_NONE);
    k->event[k->n - 1] = event;
    k->timed = false;
}

double server_clock_seconds(struct server *s, uint32_t event) {
    struct server_clock *k = s->clock;
    if (!k || !k->seconds) return 0;
    if (!k->timed && k->n) time_all(s, k);
    return k->seconds[event];
}

void server_clock_clear(struct server *s) {
    struct server_clock *k = s->clock;
    if (!k) return;
    arena_free(&k->clocks);
    free(k->c), free(k->event), free(k->seconds), free(k);
    s->clock = NULL;
}
