/* ipc.c — memory that several processes of a run share. Each process has a server and a device of
 * its own in simgpu. The list below is common to all servers: an entry is an allocation that one of
 * them exported. A server that opens it maps the same pages into its own device. */
#include "common/grow.h"
#include "grader/server/internal.h"

#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

struct exported_allocation {
    uint64_t number;
    const struct server *owner;
    uint64_t address, bytes;
    int fd; /* a duplicate: the owner's device may end before it is opened */
    uint64_t offset;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards all below */
static struct exported_allocation *exports;
static unsigned nexports, capacity;
static uint64_t last_number;

static void remove_at(unsigned i) {
    close(exports[i].fd);
    exports[i] = exports[--nexports];
    if (nexports) return;
    free(exports);
    exports = NULL, capacity = 0;
}

void server_ipc_forget(const struct server *s, uint64_t address) {
    pthread_mutex_lock(&lock);
    for (unsigned i = nexports; i-- > 0;)
        if (exports[i].owner == s && (!address || exports[i].address == address)) remove_at(i);
    pthread_mutex_unlock(&lock);
}

/* Returns the number of the entry, 0 = none. */
static uint64_t find_export(const struct server *s, uint64_t address) {
    uint64_t number = 0;
    pthread_mutex_lock(&lock);
    for (unsigned i = 0; i < nexports; i++)
        if (exports[i].owner == s && exports[i].address == address) number = exports[i].number;
    pthread_mutex_unlock(&lock);
    return number;
}

static uint64_t add_export(struct exported_allocation *e) {
    pthread_mutex_lock(&lock);
    GROW(exports, nexports + 1, capacity, 8);
    e->number = ++last_number;
    exports[nexports++] = *e;
    pthread_mutex_unlock(&lock);
    return e->number;
}

/* The other process's writes are not seen: all bytes count as initialized, and no launch may be
 * skipped as a repetition. */
static void mark_shared(struct server *s, uint64_t address, uint64_t bytes) {
    s->backend->ops->mark_contents(s->backend, address, bytes, true);
    s->has_shared_allocations = true;
}

static int check_supported(const struct server *s) {
    if (s->options.grading) return WB_cudaErrorNotPermitted;
    return s->backend->ops->export_pages ? 0 : WB_cudaErrorNotSupported;
}

int server_on_ipc_export(struct server *s, const struct wb_req_ipc_export *q,
                         struct message_tail tail, struct wb_rep_ipc_export *p, struct buf *out) {
    (void)tail, (void)out;
    struct exported_allocation e = {.owner = s, .address = q->address};
    uint64_t start;
    int fd, error = check_supported(s);
    if (error) return error;
    if (!s->backend->ops->find_allocation(s->backend, q->address, &start, &e.bytes) ||
        start != q->address)
        return WB_cudaErrorInvalidValue;
    p->number = find_export(s, q->address);
    if (p->number) return 0;
    if (!s->backend->ops->export_pages(s->backend, q->address, &fd, &e.offset) ||
        (e.fd = dup(fd)) < 0)
        return server_refuse(s, WB_cudaErrorMemoryAllocation,
                             "cannot make a memory file of %llu "
                             "bytes",
                             (unsigned long long)e.bytes);
    mark_shared(s, q->address, e.bytes);
    p->number = add_export(&e);
    return 0;
}

/* Returns a copy of the entry with a descriptor of its own; false if there is none. */
static bool take_export(uint64_t number, struct exported_allocation *out) {
    bool found = false;
    pthread_mutex_lock(&lock);
    for (unsigned i = 0; i < nexports && !found; i++)
        if (exports[i].number == number) *out = exports[i], found = true;
    if (found) out->fd = dup(out->fd);
    pthread_mutex_unlock(&lock);
    return found && out->fd >= 0;
}

int server_on_ipc_open(struct server *s, const struct wb_req_ipc_open *q, struct message_tail tail,
                       struct wb_rep_ipc_open *p, struct buf *out) {
    (void)tail, (void)out;
    struct exported_allocation e;
    int error = check_supported(s);
    if (error) return error;
    if (!take_export(q->number, &e))
        return server_refuse(s, WB_cudaErrorInvalidValue,
                             "the handle's memory was freed, or its process has ended");
    /* Both devices have their memory at the same base, so offsets within a page are equal. */
    uint64_t lead = (e.address - s->backend->base) - e.offset, bytes = lead + e.bytes;
    uint64_t start = s->backend->ops->alloc_pages(s->backend, bytes, "cudaIpcOpenMemHandle");
    bool ok = start && s->backend->ops->share_pages(s->backend, start, e.fd, e.offset);
    close(e.fd);
    if (!ok) {
        if (start) s->backend->ops->free(s->backend, start);
        return server_refuse(s, WB_cudaErrorMapBufferObjectFailed,
                             "cannot map %llu bytes of another process: close what you opened "
                             "before",
                             (unsigned long long)bytes);
    }
    mark_shared(s, start, bytes);
    p->start = start, p->address = start + lead, p->bytes = e.bytes;
    return 0;
}
