/* gpu_streams.c — a round in streams: the commands of a recording go into streams of the driver, as
 * they were recorded, so that what overlaps overlaps. Where a command comes after one of another
 * stream, an event is recorded behind that one, and waited for. Where the host had waited, it waits
 * here too, for which the queue has to be let go. Outside of rounds all commands go into one
 * stream. */
#include "grader/server/gpu_internal.h"
#include "common/grow.h"

#include <stdlib.h>
#include <string.h>

void *gpu_stream(struct backend_gpu *g) {
    void *s = g->queueing ? g->streams.begun[g->streams.current] : NULL;
    return s ? s : g->stream;
}

void gpu_streams_begin(struct backend_gpu *g) {
    struct gpu_streams *s = &g->streams;
    memset(s->begun, 0, sizeof s->begun);
    memset(s->seen, 0, sizeof s->seen);
    memset(s->done, 0, sizeof s->done);
    s->begun[0] = g->stream;
    s->n = s->current = s->number = 0;
    s->waited = false;
}

/* An event at the end of a stream, kept under a number; NULL with the driver's error. */
static void *put_mark(struct backend_gpu *g, uint32_t stream, uint32_t number, int *error) {
    struct gpu_streams *s = &g->streams;
    GROW(s->marks, s->n + 1, s->capacity, 32);
    if (s->n == s->made) {
        if ((*error = g->d.cuEventCreate(&s->marks[s->n].event, EVENT_DISABLE_TIMING))) return NULL;
        s->made++;
    }
    struct gpu_mark *m = &s->marks[s->n++];
    m->stream = stream, m->number = number;
    *error = g->d.cuEventRecord(m->event, s->begun[stream] ? s->begun[stream] : g->stream);
    return *error ? NULL : m->event;
}

static void *find_mark(const struct gpu_streams *s, uint32_t stream, uint32_t number) {
    for (unsigned i = s->n; i-- > 0;)
        if (s->marks[i].stream == stream && s->marks[i].number == number) return s->marks[i].event;
    return NULL;
}

/* Behind what the command at hand has queued. */
static int close_command(struct backend_gpu *g) {
    struct gpu_streams *s = &g->streams;
    int error = 0;
    if (s->waited) put_mark(g, s->current, s->number, &error);
    s->waited = false;
    return error;
}

/* What the host had waited for when it gave a command. */
static int host_wait(struct backend_gpu *g, const uint32_t done[SIM_MAX_STREAMS]) {
    struct gpu_streams *s = &g->streams;
    int error = 0;
    for (uint32_t k = 0; k < SIM_MAX_STREAMS && !error; k++) {
        if (done[k] <= s->done[k]) continue;
        s->done[k] = done[k];
        void *mark = find_mark(s, k, done[k]);
        if (!mark) continue; /* of a call before this one */
        gpu_open_gate(g);
        error = g->d.cuEventSynchronize(mark);
    }
    return error;
}

static int begin_stream(struct backend_gpu *g, uint32_t k) {
    struct gpu_streams *s = &g->streams;
    int error = 0;
    if (s->begun[k]) return 0;
    if (!s->stream[k]) error = g->d.cuStreamCreate(&s->stream[k], STREAM_NON_BLOCKING);
    if (error) return error;
    s->begun[k] = s->stream[k];
    return g->d.cuStreamWaitEvent(s->stream[k], g->start, 0); /* behind the gate */
}

static int wait_for_others(struct backend_gpu *g, const struct sim_stream_clock *o) {
    struct gpu_streams *s = &g->streams;
    int error = 0;
    for (uint32_t k = 0; k < SIM_MAX_STREAMS && !error; k++) {
        if (k == o->stream || o->ordered_after[k] <= s->seen[o->stream][k] ||
            o->ordered_after[k] <= s->done[k])
            continue;
        s->seen[o->stream][k] = o->ordered_after[k];
        void *mark = find_mark(s, k, o->ordered_after[k]);
        if (mark) error = g->d.cuStreamWaitEvent(s->begun[o->stream], mark, 0);
    }
    return error;
}

/* Of commands that nobody knows the order of, the rest goes into the one stream, behind all. */
void gpu_order(struct backend *b, const struct sim_stream_clock *o) {
    struct backend_gpu *g = (struct backend_gpu *)b;
    if (!g->queueing || g->poison) return;
    int error = close_command(g);
    if (!o) {
        if (!error) error = gpu_streams_join(g);
        g->streams.current = 0;
    } else if (o->stream < SIM_MAX_STREAMS) {
        if (!error) error = host_wait(g, o->permanently_after);
        if (!error) error = begin_stream(g, o->stream);
        if (!error) error = wait_for_others(g, o);
        g->streams.current = o->stream, g->streams.number = o->sequence,
        g->streams.waited = o->has_dependent;
    }
    gpu_fail(g, error);
}

int gpu_streams_join(struct backend_gpu *g) {
    struct gpu_streams *s = &g->streams;
    int error = close_command(g);
    for (uint32_t k = 1; k < SIM_MAX_STREAMS && !error; k++) {
        if (!s->begun[k]) continue;
        void *mark = put_mark(g, k, 0, &error);
        if (mark) error = g->d.cuStreamWaitEvent(g->stream, mark, 0);
    }
    return error;
}

void gpu_streams_close(struct backend_gpu *g) {
    struct gpu_streams *s = &g->streams;
    for (unsigned k = 0; k < SIM_MAX_STREAMS; k++)
        if (s->stream[k]) g->d.cuStreamDestroy_v2(s->stream[k]);
    for (unsigned i = 0; i < s->made; i++) g->d.cuEventDestroy_v2(s->marks[i].event);
    free(s->marks);
}
