/* events.c — Server-Sent Events: each listening page has a queue. libmicrohttpd asks for bytes; if
 * there are none, its connection is suspended until the next event. */
#include "grader/serve/serve.h"

#include <microhttpd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

/* A page that stops reading is disconnected at this size; it then loads everything again. */
enum { MAX_QUEUED_BYTES = 16 << 20, MAX_LISTENERS = 16, CHUNK_BYTES = 32 << 10 };

/* One page's connection. */
struct listener {
    struct MHD_Connection *connection;
    struct buf queue; /* events that the page hasn't received; empty after an overflow */
    bool is_suspended, has_overflowed;
    struct serve_events *owner;
    struct listener *next;
};
struct serve_events {
    struct listener *first;
    unsigned listener_count;
};

struct serve_events *serve_events_new(void) {
    return xcalloc(1, sizeof(struct serve_events));
}
void serve_events_free(struct serve_events *v) { free(v); }

/* Copies queued bytes for libmicrohttpd; without any, suspends the connection. */
static ssize_t read_queue(void *user, uint64_t position, char *out, size_t capacity) {
    struct listener *l = user;
    (void)position;
    size_t size = l->queue.size < capacity ? l->queue.size : capacity;
    if (l->has_overflowed) return MHD_CONTENT_READER_END_OF_STREAM;
    if (!size) {
        l->is_suspended = true;
        MHD_suspend_connection(l->connection);
        return 0;
    }
    memcpy(out, l->queue.data, size);
    memmove(l->queue.data, l->queue.data + size, l->queue.size - size);
    l->queue.size -= size;
    return (ssize_t)size;
}

static void remove_listener(void *user) {
    struct listener *l = user, **at = &l->owner->first;
    while (*at != l) at = &(*at)->next;
    *at = l->next;
    l->owner->listener_count--;
    buf_free(&l->queue);
    free(l);
}

static void resume(struct listener *l) {
    if (!l->is_suspended) return;
    l->is_suspended = false;
    MHD_resume_connection(l->connection);
}

static void queue_event(struct listener *l, const char *name, const char *data) {
    if (l->has_overflowed) return;
    if (!*name) buf_puts(&l->queue, ":\n\n"); /* a comment finds connections that are gone */
    else buf_printf(&l->queue, "event: %s\ndata: %s\n\n", name, data);
    l->has_overflowed = l->queue.size > MAX_QUEUED_BYTES;
    if (l->has_overflowed) buf_free(&l->queue);
}

void serve_events_send(struct serve_events *v, const char *name, const char *data) {
    for (struct listener *l = v->first; l; l = l->next) {
        queue_event(l, name, data);
        resume(l);
    }
}

struct MHD_Response *serve_events_response(struct serve_events *v,
                                           struct MHD_Connection *connection) {
    if (v->listener_count == MAX_LISTENERS) return NULL;
    struct listener *l = xcalloc(1, sizeof *l);
    *l = (struct listener){.connection = connection, .owner = v, .next = v->first};
    buf_puts(&l->queue, "retry: 1000\n\n");
    v->first = l, v->listener_count++;
    return MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, CHUNK_BYTES, read_queue, l,
                                             remove_listener);
}
