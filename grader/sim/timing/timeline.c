/* timeline.c — the event loop of the model of streams; see timeline.h. */
#include "grader/sim/timing/timeline.h"
#include "common/err.h"
#include "grader/sim/timing/timing.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

/* The share of the launch overhead that overlaps the launch before: an empty kernel takes 3.0 us on
 * an H100, each further one 2.15. The rest is the host's time for a call: it limits the launches
 * per second, from one stream or from several. */
static const double launch_overlap = 0.28;
/* The same for a node of a graph behind another. 64 kernels of a load and a store take 164.3 us in
 * a stream, 62.5 as a graph (H100, docs/results/h100/async.tsv, medians of 21). In a stream, each
 * takes 2.15 for the launch and so 0.42 for itself. As a node behind the first it takes
 * (62.5 - 3.3) / 63 = 0.94, and so 0.52 for the launch. */
static const double node_launch_overlap = 0.82;

/* Copies between two H200s (grader/tests/timing/peers-h200.tsv). Without peer access, 64 and 256
 * MiB take 1769 and 7000 us: 38.5 GB/s, 0.70 of the bus's rate, behind the host's buffer; 4 KiB
 * take 17.8 us, with peer access 5.1. In a stream of the destination's device, copies with peer
 * access take about 9 us longer. An event to the other device and back takes 14.34 us. */
static const double staged_peer_share = 0.70, staged_peer_seconds = 12.7e-6,
                    pulled_peer_seconds = 9e-6, device_switch_seconds = 7.17e-6;

static double peer_rate(const struct gpu_device *d) {
    return d->peer_rate > 0 ? d->peer_rate : d->bus_rate;
}

struct timeline_rates time_timeline_rates(const struct gpu_device *d) {
    return (struct timeline_rates){.h2d = d->bus_rate,
                                   .d2h = d->bus_rate,
                                   .bidirectional = d->bus_bidirectional_rate,
                                   .peer = peer_rate(d),
                                   .copy_overhead = d->copy_overhead_seconds,
                                   .peer_overhead = d->peer_overhead_seconds,
                                   .engine_switch = d->engine_switch_seconds,
                                   .device_switch = device_switch_seconds,
                                   .host_call = (1 - launch_overlap) * d->launch_seconds,
                                   .host_wakeup = d->host_sync_seconds,
                                   .overlap = launch_overlap * d->launch_seconds,
                                   .node_overlap = node_launch_overlap * d->launch_seconds};
}

/* Bytes/s at which one thread of the host fills the pinned staging buffer: copies of 1 to 16 MiB of
 * pageable memory reach 12.8 to 13.3 GB/s either way on an H100's host, where pinned memory reaches
 * 54 (medians of 15 copies; larger ones vary from 9 to 15). */
static const double host_staging_rate = 17.4e9;

double time_pageable_bytes(const struct gpu_device *d, double bytes) {
    return bytes * (1 + d->bus_rate / host_staging_rate);
}

void time_peer_copy(const struct gpu_device *d, double bytes, bool is_direct, bool is_pulled,
                    struct timeline_command *c) {
    c->bytes = is_direct ? bytes : bytes * peer_rate(d) / (staged_peer_share * d->bus_rate);
    c->seconds = !is_direct ? staged_peer_seconds : is_pulled ? pulled_peer_seconds : 0;
}

/* On two H200s, kernels that read 64 and 256 MiB of the other's memory take 188.5 and 727.3 us:
 * 373.7 GB/s, 0.94 of a copy's rate. A load takes 0.8 us. */
static const double peer_kernel_share = 0.94, peer_load_seconds = 0.8e-6;

double time_peer_kernel_seconds(const struct gpu_device *d, double bytes) {
    return d->launch_seconds + peer_load_seconds + bytes / (peer_kernel_share * peer_rate(d));
}

enum { NO_COMMAND = UINT32_MAX };

struct stream_state {
    uint32_t head;                    /* the first command that is not done; NO_COMMAND = none */
    uint32_t done_number;             /* all commands up to this number are done */
    enum timeline_engine last_engine; /* of the command before the head; NONE = no such command */
    uint32_t last_device;             /* its device */
    double head_since;                /* when the command before the head was done */
    double ready_at; /* when other commands let the head start; < 0: not known yet */
    bool blocked;    /* another stream's command blocked the head at the last test */
    bool running;
    bool has_ended; /* a command of it has ended, at head_since on: */
    uint32_t end_device;
};

struct timeline {
    struct timeline_command *commands;
    uint32_t n, issued, finished; /* numbers of commands */
    const struct timeline_rates *r;
    uint32_t *next_in_stream; /* by command */
    double now, host_time;    /* host_time: when the host makes its next call */
    bool host_blocked;
    struct stream_state stream[TIMELINE_MAX_STREAMS];
    struct timeline_device {
        struct copy_engine {
            uint32_t command;                /* NO_COMMAND: the engine is idle */
            double latency_left, bytes_left; /* seconds until bytes move; bytes */
        } copy_engine[TIMELINE_NONE];        /* TIMELINE_KERNEL's is never used */
        double share_used;                   /* share of the device that running kernels take */
        double peer_rate; /* of its copy to another device, until the next event */
    } device[TIMELINE_MAX_DEVICES];
    uint32_t ndevices;                /* that commands use */
    enum timeline_engine last_engine; /* of the command that ended last */
    uint32_t last_device;             /* its device */
    struct timeline_total total;
};

static void number_streams(struct timeline *l) {
    uint32_t last[TIMELINE_MAX_STREAMS];
    for (unsigned s = 0; s < TIMELINE_MAX_STREAMS; s++)
        last[s] = NO_COMMAND, l->stream[s] = (struct stream_state){.head = NO_COMMAND,
                                                                   .done_number = NO_COMMAND,
                                                                   .last_engine = TIMELINE_NONE,
                                                                   .ready_at = -1};
    for (uint32_t i = 0; i < l->n; i++) {
        uint32_t s = l->commands[i].stream;
        l->next_in_stream[i] = NO_COMMAND;
        if (last[s] == NO_COMMAND)
            l->stream[s].head = i, l->stream[s].done_number = l->commands[i].number - 1;
        else l->next_in_stream[last[s]] = i;
        last[s] = i;
    }
}

static bool clock_reached(const struct timeline *l, const uint32_t *clock, uint32_t self) {
    for (unsigned s = 0; clock && s < TIMELINE_MAX_STREAMS; s++)
        if (s != self && clock[s] > l->stream[s].done_number) return false;
    return true;
}

/* ---- the host ---- */

/* Issues the host's next call once the commands that the host waits for before it are done. Returns
 * true if something was issued. */
static bool issue(struct timeline *l) {
    if (l->issued == l->n) return false;
    const struct timeline_command *c = &l->commands[l->issued];
    if (!clock_reached(l, c->host_done, NO_COMMAND)) return l->host_blocked = true, false;
    if (l->host_blocked) l->host_time = l->now + l->r->host_wakeup, l->host_blocked = false;
    if (l->host_time > l->now) return false;
    l->issued++;
    if (c->engine != TIMELINE_NONE && !c->in_same_call) l->host_time += l->r->host_call;
    return true;
}

/* ---- commands that start ---- */

static const struct timeline_command *issued_head(const struct timeline *l,
                                                  const struct stream_state *s) {
    return s->head < l->issued && !s->running ? &l->commands[s->head] : NULL;
}

/* Returns when the last commands of other devices that the command comes after have made themselves
 * known to its device. */
static double device_ready(const struct timeline *l, const struct timeline_command *c) {
    double at = 0;
    for (unsigned i = 0; l->ndevices > 1 && c->after && i < TIMELINE_MAX_STREAMS; i++) {
        const struct stream_state *s = &l->stream[i];
        if (i == c->stream || !s->has_ended || s->end_device == c->device) continue;
        if (c->after[i] == s->done_number) at = fmax(at, s->head_since + l->r->device_switch);
    }
    return at;
}

/* Sets the time from which the head may start: a little later if it follows a command on another
 * engine. */
static void update_ready(struct timeline *l, struct stream_state *s) {
    const struct timeline_command *c = issued_head(l, s);
    if (!c || s->ready_at >= 0) return;
    if (!clock_reached(l, c->after, c->stream)) {
        s->blocked = true;
        return;
    }
    enum timeline_engine previous_engine = s->blocked ? l->last_engine : s->last_engine;
    uint32_t previous_device = s->blocked ? l->last_device : s->last_device;
    bool other_device = previous_device != c->device,
         switches_engine = c->engine != TIMELINE_NONE && previous_engine != TIMELINE_NONE &&
                           (s->blocked ? previous_engine != c->engine && !other_device
                                       : previous_engine != c->engine || other_device);
    s->ready_at =
        fmax((s->blocked ? l->now : s->head_since) + (switches_engine ? l->r->engine_switch : 0),
             device_ready(l, c));
    s->blocked = false;
}

/* Returns the stream of the first command, in the order of the calls, that may start on the
 * device's engine; NULL = none. */
static struct stream_state *first_ready(struct timeline *l, uint32_t device,
                                        enum timeline_engine e) {
    struct stream_state *best = NULL;
    for (unsigned i = 0; i < TIMELINE_MAX_STREAMS; i++) {
        struct stream_state *s = &l->stream[i];
        const struct timeline_command *c = issued_head(l, s);
        if (!c || c->engine != e || c->device != device) continue;
        if (s->ready_at < 0 || s->ready_at > l->now) continue;
        if (!best || s->head < best->head) best = s;
    }
    return best;
}

static void finish(struct timeline *l, struct stream_state *s) {
    struct timeline_command *c = &l->commands[s->head];
    uint32_t next = l->next_in_stream[s->head];
    c->end = l->now;
    s->done_number =
        next != NO_COMMAND && l->commands[next].number == c->number ? c->number - 1 : c->number;
    if (c->engine != TIMELINE_NONE) s->last_engine = c->engine, s->last_device = c->device;
    l->last_engine = s->last_engine, l->last_device = s->last_device;
    s->end_device = c->device, s->has_ended = true;
    s->head = next, s->head_since = l->now, s->ready_at = -1, s->running = false;
    l->finished++;
}

static bool begin_copy(struct timeline *l, uint32_t device, enum timeline_engine e) {
    struct copy_engine *engine = &l->device[device].copy_engine[e];
    struct stream_state *s = engine->command == NO_COMMAND ? first_ready(l, device, e) : NULL;
    if (!s) return false;
    struct timeline_command *c = &l->commands[s->head];
    engine->command = s->head, engine->bytes_left = c->bytes;
    engine->latency_left =
        e == TIMELINE_PEER ? l->r->peer_overhead + c->seconds : l->r->copy_overhead;
    c->begin = l->now, s->running = true;
    return true;
}

static bool begin_kernel(struct timeline *l, uint32_t device) {
    struct stream_state *s = first_ready(l, device, TIMELINE_KERNEL);
    double *used = &l->device[device].share_used;
    if (!s || (*used > 0 && *used + l->commands[s->head].device_share > 1 + 1e-9)) return false;
    struct timeline_command *c = &l->commands[s->head];
    double overlap = c->in_same_call ? l->r->node_overlap : l->r->overlap,
           seconds = c->seconds - (s->last_engine == TIMELINE_KERNEL ? overlap : 0),
           min_seconds = c->seconds / (c->in_same_call ? 4 : 2);
    if (seconds < min_seconds) seconds = min_seconds;
    c->begin = l->now, c->end = l->now + seconds;
    *used += c->device_share, s->running = true;
    return true;
}

static bool finish_marker(struct timeline *l, uint32_t device) {
    struct stream_state *s = first_ready(l, device, TIMELINE_NONE);
    if (!s) return false;
    l->commands[s->head].begin = l->now;
    finish(l, s);
    return true;
}

static void begin_all(struct timeline *l) {
    bool progressed = true;
    while (progressed) {
        progressed = issue(l);
        for (unsigned i = 0; i < TIMELINE_MAX_STREAMS; i++) update_ready(l, &l->stream[i]);
        for (uint32_t d = 0; d < l->ndevices; d++)
            progressed |= finish_marker(l, d) || begin_copy(l, d, TIMELINE_H2D) ||
                          begin_copy(l, d, TIMELINE_D2H) || begin_copy(l, d, TIMELINE_PEER) ||
                          begin_kernel(l, d);
    }
}

/* ---- commands that end ---- */

static bool is_transferring(const struct timeline_device *d, enum timeline_engine e) {
    return d->copy_engine[e].command != NO_COMMAND && !(d->copy_engine[e].latency_left > 0);
}

/* Returns the rate of a device's copy to another one, which other devices' copies to that one
 * share. */
static double peer_transfer_rate(const struct timeline *l, const struct timeline_device *d) {
    uint32_t command = d->copy_engine[TIMELINE_PEER].command;
    unsigned sharing = 0;
    if (command == NO_COMMAND) return l->r->peer;
    for (uint32_t i = 0; i < l->ndevices; i++)
        sharing += is_transferring(&l->device[i], TIMELINE_PEER) &&
                   l->commands[l->device[i].copy_engine[TIMELINE_PEER].command].to_device ==
                       l->commands[command].to_device;
    return sharing ? l->r->peer / sharing : l->r->peer;
}

static double transfer_rate(const struct timeline *l, const struct timeline_device *d,
                            enum timeline_engine e) {
    if (e == TIMELINE_PEER) return d->peer_rate;
    double one_way_rate = e == TIMELINE_H2D ? l->r->h2d : l->r->d2h;
    bool is_bidirectional = is_transferring(d, TIMELINE_H2D) && is_transferring(d, TIMELINE_D2H);
    return is_bidirectional ? l->r->bidirectional * one_way_rate / (l->r->h2d + l->r->d2h)
                            : one_way_rate;
}

static double copy_seconds_left(const struct timeline *l, const struct timeline_device *d,
                                enum timeline_engine e) {
    const struct copy_engine *engine = &d->copy_engine[e];
    if (engine->command == NO_COMMAND) return INFINITY;
    return engine->latency_left > 0 ? engine->latency_left
                                    : engine->bytes_left / transfer_rate(l, d, e);
}

/* Returns the seconds until a copy of any device ends, or its bytes begin to move. */
static double next_copy_event(const struct timeline *l) {
    double next = INFINITY;
    for (uint32_t i = 0; i < l->ndevices; i++)
        for (enum timeline_engine e = TIMELINE_H2D; e < TIMELINE_NONE; e++)
            next = fmin(next, copy_seconds_left(l, &l->device[i], e));
    return next;
}

static bool is_running(const struct timeline *l, const struct stream_state *s,
                       enum timeline_engine e) {
    return s->running && l->commands[s->head].engine == e;
}

/* Returns the time of the next event; INFINITY if there is none. */
static double next_event(struct timeline *l) {
    for (uint32_t i = 0; i < l->ndevices; i++)
        l->device[i].peer_rate = peer_transfer_rate(l, &l->device[i]);
    double at = l->now + next_copy_event(l);
    if (l->issued < l->n && !l->host_blocked && l->host_time < at) at = l->host_time;
    for (unsigned i = 0; i < TIMELINE_MAX_STREAMS; i++) {
        const struct stream_state *s = &l->stream[i];
        if (is_running(l, s, TIMELINE_KERNEL) && l->commands[s->head].end < at)
            at = l->commands[s->head].end;
        if (issued_head(l, s) && s->ready_at > l->now && s->ready_at < at) at = s->ready_at;
    }
    return at;
}

static void advance_copies(struct timeline *l, struct timeline_device *d, double at) {
    double seconds = at - l->now, rates[TIMELINE_NONE];
    bool finished[TIMELINE_NONE];
    for (enum timeline_engine e = TIMELINE_H2D; e < TIMELINE_NONE; e++) {
        rates[e] = transfer_rate(l, d, e);
        finished[e] = at >= l->now + copy_seconds_left(l, d, e);
    }
    for (enum timeline_engine e = TIMELINE_H2D; e < TIMELINE_NONE; e++) {
        struct copy_engine *engine = &d->copy_engine[e];
        if (engine->command == NO_COMMAND) continue;
        l->total.engine_busy[e] += seconds;
        if (engine->latency_left > 0)
            engine->latency_left = finished[e] ? 0 : engine->latency_left - seconds;
        else engine->bytes_left = finished[e] ? 0 : engine->bytes_left - rates[e] * seconds;
    }
}

static void finish_copies(struct timeline *l, struct timeline_device *d) {
    for (enum timeline_engine e = TIMELINE_H2D; e < TIMELINE_NONE; e++)
        if (is_transferring(d, e) && !(d->copy_engine[e].bytes_left > 0)) {
            uint32_t i = d->copy_engine[e].command;
            d->copy_engine[e].command = NO_COMMAND;
            finish(l, &l->stream[l->commands[i].stream]);
        }
}

static void advance(struct timeline *l, double at) {
    for (uint32_t i = 0; i < l->ndevices; i++) {
        if (l->device[i].share_used > 0) l->total.engine_busy[TIMELINE_KERNEL] += at - l->now;
        advance_copies(l, &l->device[i], at);
    }
    l->now = at;
    for (unsigned i = 0; i < TIMELINE_MAX_STREAMS; i++) {
        struct stream_state *s = &l->stream[i];
        if (!is_running(l, s, TIMELINE_KERNEL) || l->commands[s->head].end > at) continue;
        double *used = &l->device[l->commands[s->head].device].share_used;
        *used -= l->commands[s->head].device_share;
        if (*used < 1e-9) *used = 0;
        finish(l, s);
    }
    for (uint32_t i = 0; i < l->ndevices; i++) finish_copies(l, &l->device[i]);
}

static void init_devices(struct timeline *l) {
    l->ndevices = 1;
    for (uint32_t i = 0; i < l->n; i++)
        if (l->commands[i].device >= l->ndevices) l->ndevices = l->commands[i].device + 1;
    for (uint32_t i = 0; i < l->ndevices; i++)
        for (enum timeline_engine e = TIMELINE_H2D; e < TIMELINE_NONE; e++)
            l->device[i].copy_engine[e].command = NO_COMMAND;
}

struct timeline_total time_timeline_run(struct timeline_command *c, unsigned n,
                                        const struct timeline_rates *r) {
    struct timeline *l = xcalloc(1, sizeof *l);
    *l = (struct timeline){.commands = c,
                           .n = n,
                           .r = r,
                           .next_in_stream = xcalloc(n + 1ul, sizeof *l->next_in_stream),
                           .last_engine = TIMELINE_NONE};
    init_devices(l);
    number_streams(l);
    for (double at = 0; l->finished < n; advance(l, at)) {
        begin_all(l);
        if (l->finished == n || !((at = next_event(l)) < INFINITY))
            break; /* INFINITY: a clock that no command reaches */
    }
    l->total.seconds = l->now;
    struct timeline_total total = l->total;
    free(l->next_in_stream);
    free(l);
    return total;
}
