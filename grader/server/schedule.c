/* schedule.c — a recording as commands of streams, and how long they take together
 * (grader/sim/timing/timeline.h). */
#include "common/grow.h"
#include "grader/server/internal.h"
#include "grader/server/tally.h"
#include "grader/sim/timing/timeline.h"

#include <stdlib.h>
#include <string.h>

struct list {
    const struct server *s;
    const struct recording *r;
    const struct server_launch_time *launches;
    unsigned nlaunches, launched, column; /* column: which of their times */
    bool timed;                           /* else nothing but copies over the bus takes any time */
    struct timeline_command *c;
    unsigned n;
    struct timeline_command order; /* of what follows */
    bool ordered, unordered; /* the order of the command at hand is known; that of some is not */
    uint64_t streams;        /* that have commands: a bit each */
    double bus_bytes;
};

static void take_order(struct list *l, const struct command *c) {
    const struct wb_req_order *q = (const void *)(l->r->bytes.data + c->request);
    const uint32_t *clocks = (const void *)(l->r->bytes.data + c->tail);
    l->ordered = q->number && q->stream < TIMELINE_STREAMS &&
                 c->tail_size == 2 * TIMELINE_STREAMS * sizeof *clocks;
    l->order = (struct timeline_command){
        .engine = TIMELINE_NONE, .stream = q->stream, .number = q->number};
    if (!l->ordered) return;
    l->order.after = clocks, l->order.done = clocks + TIMELINE_STREAMS;
    l->c[l->n++] = l->order; /* events are recorded under a number of their own */
}

static struct timeline_command *add(struct list *l, enum timeline_engine e) {
    struct timeline_command *c = &l->c[l->n++];
    *c = l->order;
    c->engine = e;
    l->unordered |= !l->ordered;
    if (l->ordered) l->streams |= 1ull << c->stream;
    return c;
}

static void add_bus(struct list *l, enum timeline_engine e, double bytes) {
    add(l, e)->bytes = bytes;
    l->bus_bytes += bytes;
}

/* Copies within the device and fills have the device for themselves. */
static void add_inside(struct list *l, double launches, double bytes) {
    const struct gpu_device *d = l->s->backend->device;
    struct timeline_command *c = add(l, TIMELINE_KERNEL);
    c->share = 1;
    if (l->timed) c->seconds = launches * d->launch_seconds + bytes / d->dram_rate;
}

static void add_copy(struct list *l, const struct wb_req_copy *q) {
    enum server_way way = server_way_of(l->s, q);
    double bytes = (double)q->width * (double)q->rows;
    if (way == SERVER_WAY_WITHIN) add_inside(l, 1, 2 * bytes);
    else add_bus(l, way == SERVER_WAY_IN ? TIMELINE_IN : TIMELINE_OUT, bytes);
}

static void add_launch(struct list *l) {
    struct timeline_command *c = add(l, TIMELINE_KERNEL);
    const struct server_launch_time *t =
        l->launched < l->nlaunches ? &l->launches[l->launched++] : NULL;
    c->share = t ? t->share : 1;
    c->seconds = t && l->timed ? t->seconds[l->column] : 0;
}

static void add_command(struct list *l, const struct command *c) {
    const void *q = l->r->bytes.data + c->request;
    const struct wb_req_write *w = q;
    const struct wb_req_fill *f = q;
    if (c->op == WB_OP_order) take_order(l, c);
    else if (c->op == WB_OP_launch) add_launch(l);
    else if (c->op == WB_OP_copy) add_copy(l, q);
    else if (c->op == WB_OP_write)
        add_bus(l, TIMELINE_IN,
                time_line_pageable(l->s->backend->device, (double)w->width * (double)w->rows));
    else if (c->op == WB_OP_fill)
        add_inside(l, server_fill_launches, (double)f->width * (double)f->rows);
}

static bool has_host(const struct server *s) {
    for (unsigned i = 0; i < s->nown; i++)
        if (s->own[i].host) return true;
    return false;
}

/* One behind another. */
static void put_in_line(struct list *l) {
    for (unsigned i = 0; i < l->n; i++) {
        struct timeline_command *c = &l->c[i];
        c->stream = 0, c->number = i + 1, c->after = c->done = NULL;
    }
}

/* False: there is nothing to say: one stream, or one that the order is not known of, and no memory
 * of the host. */
static bool run(const struct server *s, const struct recording *r,
                const struct server_launch_time *launches, unsigned n, unsigned column,
                const struct timeline_rates *rates, struct timeline_total *out) {
    struct list l = {.s = s, .r = r, .launches = launches, .nlaunches = n, .column = column};
    l.timed = rates->turn > 0;
    l.c = xcalloc(r->ncommands + 1, sizeof *l.c);
    for (size_t i = 0; i < r->ncommands; i++) add_command(&l, &r->commands[i]);
    bool several = l.streams & (l.streams - 1), crosses = has_host(s) && l.bus_bytes > 0;
    bool ok = crosses || (several && !l.unordered);
    if (l.unordered) put_in_line(&l);
    if (ok) *out = time_line_run(l.c, l.n, rates);
    free(l.c);
    return ok;
}

bool recording_schedule(const struct server *s, const struct recording *r,
                        const struct server_launch_time *launches, unsigned n,
                        struct server_schedule *out) {
    struct timeline_rates rates = time_line_rates(s->backend->device);
    struct timeline_total t;
    for (unsigned column = 0; column < SERVER_TIMES; column++) {
        if (!run(s, r, launches, n, column, &rates, &t)) return false;
        out->seconds[column] = t.seconds;
        if (column == 0) memcpy(out->busy, t.busy, sizeof out->busy);
    }
    return true;
}

/* A byte takes a second in either direction, and nothing else takes any. */
double recording_bus_path(const struct server *s, const struct recording *r) {
    static const struct timeline_rates rates = {.in = 1, .out = 1, .both = 2};
    struct timeline_total t = {0};
    return run(s, r, NULL, 0, 0, &rates, &t) ? t.seconds : 0;
}

/* ---- who waits for whom ---- */

/* The orders of a stream, as indices of commands, ascending in their numbers. */
struct orders {
    uint32_t *index;
    size_t n, capacity;
};
struct waits {
    struct recording *r;
    struct orders of[TIMELINE_STREAMS];
    uint32_t seen[TIMELINE_STREAMS + 1]
                 [TIMELINE_STREAMS]; /* what each stream comes after already; the last: the host */
};

static const struct wb_req_order *order_at(const struct recording *r, size_t i) {
    return (const void *)(r->bytes.data + r->commands[i].request);
}

/* The first of a number, if there is one: what came again since then belongs to it. */
static void mark(struct waits *w, uint32_t stream, uint32_t number) {
    const struct orders *o = &w->of[stream];
    size_t low = 0, high = o->n;
    while (low < high) {
        size_t mid = (low + high) / 2;
        if (order_at(w->r, o->index[mid])->number < number) low = mid + 1;
        else high = mid;
    }
    for (; low < o->n && order_at(w->r, o->index[low])->number == number; low++)
        w->r->commands[o->index[low]].waited = true;
}

static void mark_new(struct waits *w, uint32_t seen[TIMELINE_STREAMS], uint32_t own,
                     const uint32_t *clock) {
    for (uint32_t k = 0; k < TIMELINE_STREAMS; k++) {
        if (clock[k] <= seen[k]) continue;
        seen[k] = clock[k];
        if (k != own) mark(w, k, clock[k]);
    }
}

void recording_mark_waited(struct recording *r) {
    struct waits *w = xcalloc(1, sizeof *w);
    w->r = r;
    for (size_t i = 0; i < r->ncommands; i++) {
        const struct wb_req_order *q = order_at(r, i);
        const uint32_t *clocks = (const void *)(r->bytes.data + r->commands[i].tail);
        if (r->commands[i].op != WB_OP_order || q->stream >= TIMELINE_STREAMS ||
            r->commands[i].tail_size != 2 * TIMELINE_STREAMS * sizeof *clocks)
            continue;
        mark_new(w, w->seen[q->stream], q->stream, clocks);
        mark_new(w, w->seen[TIMELINE_STREAMS], TIMELINE_STREAMS, clocks + TIMELINE_STREAMS);
        struct orders *o = &w->of[q->stream];
        GROW(o->index, o->n + 1, o->capacity, 16);
        o->index[o->n++] = (uint32_t)i;
    }
    for (unsigned s = 0; s < TIMELINE_STREAMS; s++) free(w->of[s].index);
    free(w);
}
