/* timeline.c — see timeline.h. */
#include "grader/sim/timing/timeline.h"
#include "common/err.h"
#include "grader/sim/timing/timing.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

/* Of the launch overhead, so much is over when a launch before it ends: an empty kernel takes 3.0
 * us on an H100, each further one 2.15. A call takes the host what is left of it: that many
 * launches a second come through, from one stream or from several. */
static const double launch_overlap = 0.28;

struct timeline_rates time_line_rates(const struct gpu_device *d) {
    return (struct timeline_rates){.in = d->bus_rate,
                                   .out = d->bus_rate,
                                   .both = d->bus_bidirectional_rate,
                                   .copy = d->copy_overhead_seconds,
                                   .turn = d->engine_switch_seconds,
                                   .call = (1 - launch_overlap) * d->launch_seconds,
                                   .wait = d->host_sync_seconds,
                                   .behind = launch_overlap * d->launch_seconds};
}

/* Bytes a second at which the host fills such a buffer, one thread of it: 1 to 16 MiB of pageable
 * memory take an H100's host 12.8 to 13.3 GB/s either way where pinned memory takes 54 (medians of
 * 15 copies; larger ones vary from 9 to 15). */
static const double host_rate = 17.4e9;

double time_line_pageable(const struct gpu_device *d, double bytes) {
    return bytes * (1 + d->bus_rate / host_rate);
}

enum { NOBODY = UINT32_MAX };

struct stream {
    uint32_t head;             /* the first command that is not done; NOBODY: none */
    uint32_t number;           /* up to which all are done */
    enum timeline_engine last; /* where the command before the head ran; NONE: there is none */
    double since;              /* when the head became it */
    double ready; /* when the head may begin, as far as other commands are concerned; < 0: not known
                     yet */
    bool blocked; /* by another stream's command, when it was looked at last */
    bool running;
};

struct line {
    struct timeline_command *c;
    uint32_t n, issued, finished; /* numbers of commands */
    const struct timeline_rates *r;
    uint32_t *next;   /* of the same stream, by command */
    double now, host; /* host: when it makes its next call */
    bool host_waits;
    struct stream stream[TIMELINE_STREAMS];
    struct {
        uint32_t command;   /* NOBODY: the engine is idle */
        double lead, bytes; /* left of it: seconds before bytes move, bytes */
    } bus[TIMELINE_KERNEL];
    double share;               /* of the device that kernels have */
    enum timeline_engine freed; /* where a command ended last */
    struct timeline_total total;
};

static void number_streams(struct line *l) {
    uint32_t last[TIMELINE_STREAMS];
    for (unsigned s = 0; s < TIMELINE_STREAMS; s++)
        last[s] = NOBODY,
        l->stream[s] =
            (struct stream){.head = NOBODY, .number = NOBODY, .last = TIMELINE_NONE, .ready = -1};
    for (uint32_t i = 0; i < l->n; i++) {
        uint32_t s = l->c[i].stream;
        l->next[i] = NOBODY;
        if (last[s] == NOBODY) l->stream[s].head = i, l->stream[s].number = l->c[i].number - 1;
        else l->next[last[s]] = i;
        last[s] = i;
    }
}

static bool met(const struct line *l, const uint32_t *clock, uint32_t own) {
    for (unsigned s = 0; clock && s < TIMELINE_STREAMS; s++)
        if (s != own && clock[s] > l->stream[s].number) return false;
    return true;
}

/* ---- the host ---- */

/* Its next call waits for what the host has waited for. True: something was issued. */
static bool issue(struct line *l) {
    if (l->issued == l->n) return false;
    const struct timeline_command *c = &l->c[l->issued];
    if (!met(l, c->done, NOBODY)) return l->host_waits = true, false;
    if (l->host_waits) l->host = l->now + l->r->wait, l->host_waits = false;
    if (l->host > l->now) return false;
    l->issued++;
    if (c->engine != TIMELINE_NONE) l->host += l->r->call;
    return true;
}

/* ---- what begins ---- */

static const struct timeline_command *head(const struct line *l, const struct stream *s) {
    return s->head < l->issued && !s->running ? &l->c[s->head] : NULL;
}

/* From when on the head may begin: what follows the end of a command on another engine comes a
 * little later. */
static void look_ready(struct line *l, struct stream *s) {
    const struct timeline_command *c = head(l, s);
    if (!c || s->ready >= 0) return;
    if (!met(l, c->after, c->stream)) {
        s->blocked = true;
        return;
    }
    enum timeline_engine before = s->blocked ? l->freed : s->last;
    bool turns = c->engine != TIMELINE_NONE && before != TIMELINE_NONE && before != c->engine;
    s->ready = (s->blocked ? l->now : s->since) + (turns ? l->r->turn : 0);
    s->blocked = false;
}

/* The first command in the order of the calls that may begin on an engine; NULL = none. */
static struct stream *first_ready(struct line *l, enum timeline_engine e) {
    struct stream *best = NULL;
    for (unsigned i = 0; i < TIMELINE_STREAMS; i++) {
        struct stream *s = &l->stream[i];
        const struct timeline_command *c = head(l, s);
        if (!c || c->engine != e || s->ready < 0 || s->ready > l->now) continue;
        if (!best || s->head < best->head) best = s;
    }
    return best;
}

static void finish(struct line *l, struct stream *s) {
    struct timeline_command *c = &l->c[s->head];
    uint32_t next = l->next[s->head];
    c->end = l->now;
    s->number = next != NOBODY && l->c[next].number == c->number ? c->number - 1 : c->number;
    if (c->engine != TIMELINE_NONE) s->last = c->engine;
    l->freed = s->last;
    s->head = next, s->since = l->now, s->ready = -1, s->running = false;
    l->finished++;
}

static bool begin_copy(struct line *l, enum timeline_engine e) {
    struct stream *s = l->bus[e].command == NOBODY ? first_ready(l, e) : NULL;
    if (!s) return false;
    struct timeline_command *c = &l->c[s->head];
    l->bus[e].command = s->head, l->bus[e].lead = l->r->copy, l->bus[e].bytes = c->bytes;
    c->begin = l->now, s->running = true;
    return true;
}

static bool begin_kernel(struct line *l) {
    struct stream *s = first_ready(l, TIMELINE_KERNEL);
    if (!s || (l->share > 0 && l->share + l->c[s->head].share > 1 + 1e-9)) return false;
    struct timeline_command *c = &l->c[s->head];
    double seconds = c->seconds - (s->last == TIMELINE_KERNEL ? l->r->behind : 0);
    if (seconds < c->seconds / 2) seconds = c->seconds / 2;
    c->begin = l->now, c->end = l->now + seconds;
    l->share += c->share, s->running = true;
    return true;
}

static bool begin_mark(struct line *l) {
    struct stream *s = first_ready(l, TIMELINE_NONE);
    if (!s) return false;
    l->c[s->head].begin = l->now;
    finish(l, s);
    return true;
}

static void begin_all(struct line *l) {
    bool any = true;
    while (any) {
        any = issue(l);
        for (unsigned i = 0; i < TIMELINE_STREAMS; i++) look_ready(l, &l->stream[i]);
        any |= begin_mark(l) || begin_copy(l, TIMELINE_IN) || begin_copy(l, TIMELINE_OUT) ||
               begin_kernel(l);
    }
}

/* ---- what ends ---- */

static bool moves(const struct line *l, enum timeline_engine e) {
    return l->bus[e].command != NOBODY && !(l->bus[e].lead > 0);
}

static double rate(const struct line *l, enum timeline_engine e) {
    double alone = e == TIMELINE_IN ? l->r->in : l->r->out;
    bool both = moves(l, TIMELINE_IN) && moves(l, TIMELINE_OUT);
    return both ? l->r->both * alone / (l->r->in + l->r->out) : alone;
}

static double copy_left(const struct line *l, enum timeline_engine e) {
    if (l->bus[e].command == NOBODY) return INFINITY;
    return l->bus[e].lead > 0 ? l->bus[e].lead : l->bus[e].bytes / rate(l, e);
}

static bool is_running(const struct line *l, const struct stream *s, enum timeline_engine e) {
    return s->running && l->c[s->head].engine == e;
}

/* When something happens next; INFINITY: nothing does. */
static double next_event(const struct line *l) {
    double in = copy_left(l, TIMELINE_IN), out = copy_left(l, TIMELINE_OUT),
           at = l->now + (in < out ? in : out);
    if (l->issued < l->n && !l->host_waits && l->host < at) at = l->host;
    for (unsigned i = 0; i < TIMELINE_STREAMS; i++) {
        const struct stream *s = &l->stream[i];
        if (is_running(l, s, TIMELINE_KERNEL) && l->c[s->head].end < at) at = l->c[s->head].end;
        if (head(l, s) && s->ready > l->now && s->ready < at) at = s->ready;
    }
    return at;
}

static void move_copies(struct line *l, double at) {
    double seconds = at - l->now, rates[] = {rate(l, TIMELINE_IN), rate(l, TIMELINE_OUT)};
    bool ends[] = {at >= l->now + copy_left(l, TIMELINE_IN),
                   at >= l->now + copy_left(l, TIMELINE_OUT)};
    for (unsigned e = 0; e < TIMELINE_KERNEL; e++) {
        if (l->bus[e].command == NOBODY) continue;
        l->total.busy[e] += seconds;
        if (l->bus[e].lead > 0) l->bus[e].lead = ends[e] ? 0 : l->bus[e].lead - seconds;
        else l->bus[e].bytes = ends[e] ? 0 : l->bus[e].bytes - rates[e] * seconds;
    }
}

static void advance(struct line *l, double at) {
    if (l->share > 0) l->total.busy[TIMELINE_KERNEL] += at - l->now;
    move_copies(l, at);
    l->now = at;
    for (unsigned i = 0; i < TIMELINE_STREAMS; i++) {
        struct stream *s = &l->stream[i];
        if (!is_running(l, s, TIMELINE_KERNEL) || l->c[s->head].end > at) continue;
        l->share -= l->c[s->head].share;
        if (l->share < 1e-9) l->share = 0;
        finish(l, s);
    }
    for (enum timeline_engine e = TIMELINE_IN; e < TIMELINE_KERNEL; e++)
        if (moves(l, e) && !(l->bus[e].bytes > 0)) {
            uint32_t i = l->bus[e].command;
            l->bus[e].command = NOBODY;
            finish(l, &l->stream[l->c[i].stream]);
        }
}

struct timeline_total time_line_run(struct timeline_command *c, unsigned n,
                                    const struct timeline_rates *r) {
    struct line *l = xcalloc(1, sizeof *l);
    *l = (struct line){
        .c = c, .n = n, .r = r, .next = xcalloc(n + 1ul, sizeof *l->next), .freed = TIMELINE_NONE};
    l->bus[TIMELINE_IN].command = l->bus[TIMELINE_OUT].command = NOBODY;
    number_streams(l);
    for (double at = 0; l->finished < n; advance(l, at)) {
        begin_all(l);
        if (l->finished == n || !((at = next_event(l)) < INFINITY))
            break; /* the latter: clocks that nobody meets */
    }
    l->total.seconds = l->now;
    struct timeline_total total = l->total;
    free(l->next);
    free(l);
    return total;
}
