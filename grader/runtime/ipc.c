/* ipc.c — handles of memory and events for other processes of the machine. The server of a run
 * knows the memory that processes share (grader/server/ipc.c). Events need no server: recording an
 * interprocess event waits for its stream. So whoever learns from the recording process that it was
 * recorded finds its work done, and a wait has nothing to wait for. */
#include "grader/runtime/runtime.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* What the opaque bytes of a handle hold. */
struct handle {
    char magic[8];
    uint64_t number; /* of the server's list */
    uint64_t pid;    /* the process that made it */
};
static const char memory_magic[8] = "WBmemory", event_magic[8] = "WBevent";

_Static_assert(sizeof(struct handle) <= sizeof(cudaIpcMemHandle_t), "a handle holds it");

static void make_handle(void *out, size_t size, const char magic[8], uint64_t number) {
    struct handle h = {.number = number, .pid = (uint64_t)getpid()};
    memcpy(h.magic, magic, sizeof h.magic);
    memset(out, 0, size);
    memcpy(out, &h, sizeof h);
}

static int read_handle(const void *bytes, const char magic[8], struct handle *h) {
    memcpy(h, bytes, sizeof *h);
    if (memcmp(h->magic, magic, sizeof h->magic))
        return wb_refuse(cudaErrorInvalidValue, "these bytes are no such handle");
    if (h->pid == (uint64_t)getpid())
        return wb_refuse(cudaErrorDeviceUninitialized,
                         "this process made the handle: only another process can open it");
    return 0;
}

/* ---- memory ---- */

/* The memory of other processes that is open here. */
static struct opened {
    struct opened *next;
    uint64_t number, address, start;
    unsigned count; /* calls of cudaIpcOpenMemHandle */
} * opened_list;

bool wb_ipc_is_open(const void *p) {
    wb_lock();
    const struct opened *o = opened_list;
    while (o && o->address != (uint64_t)p) o = o->next;
    wb_unlock();
    return o;
}

static int export_memory(cudaIpcMemHandle_t *out, void *p) {
    struct wb_range r;
    struct wb_rep_ipc_export reply;
    if (!out) return cudaErrorInvalidValue;
    if (!wb_range_find(p, &r) || r.start != (uint64_t)p || r.kind != WB_MEMORY_DEVICE || r.pool ||
        wb_ipc_is_open(p))
        return wb_refuse_pointer(cudaErrorInvalidValue, p,
                                 "pass what cudaMalloc of this process returned");
    int error =
        wb_request(ipc_export, &((struct wb_req_ipc_export){.address = (uint64_t)p}), &reply);
    if (!error) make_handle(out, sizeof *out, memory_magic, reply.number);
    return error;
}

cudaError_t cudaIpcGetMemHandle(cudaIpcMemHandle_t *out, void *p) {
    return wb_return(export_memory(out, p));
}

static int open_memory(uint64_t number, struct opened **out) {
    struct wb_rep_ipc_open p;
    int error = wb_request(ipc_open, &((struct wb_req_ipc_open){.number = number}), &p);
    if (error) return error;
    struct opened *o = malloc(sizeof *o);
    if (!o || !wb_range_add(p.address, p.bytes, WB_MEMORY_DEVICE, 0))
        return free(o), cudaErrorMemoryAllocation;
    *o = (struct opened){opened_list, number, p.address, p.start, 0};
    opened_list = o;
    *out = o;
    return 0;
}

static int open_handle(void **out, const cudaIpcMemHandle_t *bytes, unsigned flags) {
    struct handle h;
    int error;
    if (!out || flags != cudaIpcMemLazyEnablePeerAccess) return cudaErrorInvalidValue;
    if (!wb_device(&error)) return error;
    error = read_handle(bytes, memory_magic, &h);
    if (error) return error;
    wb_lock();
    struct opened *o = opened_list;
    while (o && o->number != h.number) o = o->next;
    if (!o) error = open_memory(h.number, &o);
    if (!error) o->count++, *out = (void *)o->address;
    wb_unlock();
    return error;
}

cudaError_t cudaIpcOpenMemHandle(void **out, cudaIpcMemHandle_t h, unsigned flags) {
    return wb_return(open_handle(out, &h, flags));
}

static int close_memory(void *p) {
    struct opened **at = &opened_list, *o;
    while ((o = *at) && o->address != (uint64_t)p) at = &o->next;
    if (!o)
        return wb_refuse_pointer(cudaErrorInvalidValue, p,
                                 "pass what cudaIpcOpenMemHandle returned");
    if (--o->count) return 0;
    struct wb_req_free q = {.address = o->start};
    *at = o->next;
    wb_range_remove(o->address);
    free(o);
    return wb_request(free, &q, NULL);
}

cudaError_t cudaIpcCloseMemHandle(void *p) {
    int error = wb_sync();
    wb_lock();
    if (!error) error = close_memory(p);
    wb_unlock();
    return wb_return(error);
}

/* ---- events ---- */

cudaError_t cudaIpcGetEventHandle(cudaIpcEventHandle_t *out, cudaEvent_t e) {
    int error = out ? wb_check_event_flags(e, cudaEventInterprocess) : cudaErrorInvalidValue;
    if (!error) make_handle(out, sizeof *out, event_magic, 0);
    return wb_return(error);
}

cudaError_t cudaIpcOpenEventHandle(cudaEvent_t *out, cudaIpcEventHandle_t bytes) {
    struct handle h;
    int error = out ? read_handle(&bytes, event_magic, &h) : cudaErrorInvalidValue;
    return wb_return(
        error ? error
              : (int)cudaEventCreateWithFlags(out, cudaEventInterprocess | cudaEventDisableTiming));
}
