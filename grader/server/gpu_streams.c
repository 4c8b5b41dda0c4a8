/* gpu_streams.c — issues the commands of a timed replay to driver streams as they were recorded, so
 * that independent commands overlap. If a command depends on one of another stream, its stream
 * waits for an event recorded after that one. Where the host waited, it waits here too, which
 * requires releasing the held queue. Outside timed replays all commands go to one stream. */
#include "grader/server/gpu_internal.h"
#include "common/grow.h"

#include <stdlib.h>
#include <string.h>

void *gpu_stream(struct backend_gpu *g) {
    void *s = g->queue_held ? g->streams.active[g->streams.current] : NULL;
    return s ? s : g->stream;
}

void gpu_streams_begin(struct backend_gpu *g) {
    struct gpu_streams *s = &g->streams;
    memset(s->active, 0, sizeof s->active);
    memset(s->waited_clock, 0, sizeof s->waited_clock);
    memset(s->host_clock, 0, sizeof s->host_clock);
    s->active[0] = g->stream;
    s->nevents = s->current = s->number = 0;
    s->has_waiter = false;
}

/* Records an event at the end of a stream under a number. Returns NULL with the driver's error on
 * failure. */
static void *record_event(struct backend_gpu *g, uint32_t stream, uint32_t number, int *error) {
    struct gpu_streams *s = &g->streams;
    GROW(s->events, s->nevents + 1, s->capacity, 32);
    if (s->nevents == s->events_created) {
        if ((*error = g->d.cuEventCreate(&s->events[s->nevents].event, EVENT_DISABLE_TIMING)))
            return NULL;
        s->events_created++;
    }
    struct gpu_event *m = &s->events[s->nevents++];
    m->stream = stream, m->number = number;
    *error = g->d.cuEventRecord(m->event, s->active[stream] ? s->active[stream] : g->stream);
    return *error ? NULL : m->event;
}

static void *find_event(const struct gpu_streams *s, uint32_t stream, uint32_t number) {
    for (unsigned i = s->nevents; i-- > 0;)
        if (s->events[i].stream == stream && s->events[i].number == number)
            return s->events[i].event;
    return NULL;
}

/* Records the event that other streams wait for, after all work that the current command queued;
 * returns the driver's error. */
static int finish_command(struct backend_gpu *g) {
    struct gpu_streams *s = &g->streams;
    int error = 0;
    if (s->has_waiter) record_event(g, s->current, s->number, &error);
    s->has_waiter = false;
    return error;
}

/* Waits for the commands that the host had waited for when it issued this one. */
static int wait_on_host(struct backend_gpu *g, const uint32_t done[SIM_MAX_STREAMS]) {
    struct gpu_streams *s = &g->streams;
    int error = 0;
    for (uint32_t k = 0; k < SIM_MAX_STREAMS && !error; k++) {
        if (done[k] <= s->host_clock[k]) continue;
        s->host_clock[k] = done[k];
        void *event = find_event(s, k, done[k]);
        if (!event) continue; /* of a call before this one */
        gpu_release_queue(g);
        error = g->d.cuEventSynchronize(event);
    }
    return error;
}

static int activate_stream(struct backend_gpu *g, uint32_t k) {
    struct gpu_streams *s = &g->streams;
    int error = 0;
    if (s->active[k]) return 0;
    if (!s->stream[k]) error = g->d.cuStreamCreate(&s->stream[k], STREAM_NON_BLOCKING);
    if (error) return error;
    s->active[k] = s->stream[k];
    return g->d.cuStreamWaitEvent(s->stream[k], g->start, 0); /* behind the gate */
}

static int wait_on_streams(struct backend_gpu *g, const struct sim_stream_clock *o) {
    struct gpu_streams *s = &g->streams;
    int error = 0;
    for (uint32_t k = 0; k < SIM_MAX_STREAMS && !error; k++) {
        if (k == o->stream || o->ordered_after[k] <= s->waited_clock[o->stream][k] ||
            o->ordered_after[k] <= s->host_clock[k])
            continue;
        s->waited_clock[o->stream][k] = o->ordered_after[k];
        void *event = find_event(s, k, o->ordered_after[k]);
        if (event) error = g->d.cuStreamWaitEvent(s->active[o->stream], event, 0);
    }
    return error;
}

/* Once the order is unknown, all further commands go to the one stream, after all others. */
void gpu_set_stream_clock(struct backend *b, const struct sim_stream_clock *o) {
    struct backend_gpu *g = (struct backend_gpu *)b;
    if (!g->queue_held || g->sticky_error) return;
    int error = finish_command(g);
    if (!o) {
        if (!error) error = gpu_streams_join(g);
        g->streams.current = 0;
    } else if (o->stream < SIM_MAX_STREAMS) {
        if (!error) error = wait_on_host(g, o->all_later_ordered_after);
        if (!error) error = activate_stream(g, o->stream);
        if (!error) error = wait_on_streams(g, o);
        g->streams.current = o->stream, g->streams.number = o->sequence,
        g->streams.has_waiter = o->has_dependent;
    }
    gpu_check_error(g, error);
}

int gpu_streams_join(struct backend_gpu *g) {
    struct gpu_streams *s = &g->streams;
    int error = finish_command(g);
    for (uint32_t k = 1; k < SIM_MAX_STREAMS && !error; k++) {
        if (!s->active[k]) continue;
        void *event = record_event(g, k, 0, &error);
        if (event) error = g->d.cuStreamWaitEvent(g->stream, event, 0);
    }
    return error;
}

void gpu_streams_close(struct backend_gpu *g) {
    struct gpu_streams *s = &g->streams;
    for (unsigned k = 0; k < SIM_MAX_STREAMS; k++)
        if (s->stream[k]) g->d.cuStreamDestroy_v2(s->stream[k]);
    for (unsigned i = 0; i < s->events_created; i++) g->d.cuEventDestroy_v2(s->events[i].event);
    free(s->events);
}
