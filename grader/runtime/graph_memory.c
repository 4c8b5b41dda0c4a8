/* graph_memory.c — what allocation nodes of graphs allocate. Its address is known when the node is
 * made, and stays; so the memory is there from then on, and the graph's launches only say whether
 * it counts as allocated. */
#include "grader/runtime/graph.h"

#include <stdlib.h>

struct memory {
    struct memory *next;
    void *p;
    size_t bytes;
    unsigned holders; /* nodes */
    bool live;        /* allocated by a launch, not freed yet */
};

static struct memory *all;
static uint64_t used, used_high, reserved_high;

static uint64_t reserved(void) {
    uint64_t sum = 0;
    for (const struct memory *m = all; m; m = m->next) sum += m->bytes;
    return sum;
}

static struct memory *find(const void *p) {
    struct memory *m = all;
    while (m && m->p != p) m = m->next;
    return m;
}

/* Its last user has gone. */
static void release(struct memory *m) {
    struct memory **at = &all;
    if (m->holders || m->live) return;
    while (*at != m) at = &(*at)->next;
    *at = m->next;
    if (wb_range_remove((uint64_t)m->p)) wb_post(free, &((struct wb_req_free){(uint64_t)m->p}));
    free(m);
}

static int add(uint64_t address, size_t bytes, void **out) {
    struct memory *m = calloc(1, sizeof *m);
    if (!m || !wb_range_add(address, bytes, WB_MEMORY_DEVICE, 0))
        return free(m), cudaErrorMemoryAllocation;
    wb_lock();
    *m = (struct memory){.next = all, .p = (void *)address, .bytes = bytes};
    all = m;
    if (reserved() > reserved_high) reserved_high = reserved();
    wb_unlock();
    *out = m->p;
    return 0;
}

int wb_graph_memory_new(void **out, size_t bytes) {
    struct wb_rep_alloc p;
    int error = wb_ask(alloc, &((struct wb_req_alloc){bytes}), &p);
    return error ? error : add(p.address, bytes, out);
}

int wb_graph_condition_new(void **out) {
    struct wb_rep_condition p;
    int error = wb_ask(condition, NULL, &p);
    return error ? error : add(p.address, sizeof(uint32_t), out);
}

void wb_graph_memory_hold(void *p) {
    wb_lock();
    struct memory *m = find(p);
    if (m) m->holders++;
    wb_unlock();
}

void wb_graph_memory_drop(void *p) {
    wb_lock();
    struct memory *m = find(p);
    if (m) m->holders--, release(m);
    wb_unlock();
}

int wb_graph_memory_begin(void *p, bool again) {
    wb_lock();
    struct memory *m = find(p);
    int error = !m || (m->live && !again) ? cudaErrorInvalidValue : 0;
    if (!error && !m->live) m->live = true, used += m->bytes;
    if (used > used_high) used_high = used;
    wb_unlock();
    return error;
}

int wb_graph_memory_end(void *p) {
    if (!all) return -1;
    wb_lock();
    struct memory *m = find(p);
    int error = !m ? -1 : m->live ? 0 : cudaErrorInvalidValue;
    if (!error) m->live = false, used -= m->bytes, release(m);
    wb_unlock();
    return error;
}

/* ---- what is asked about it ---- */

cudaError_t cudaDeviceGetGraphMemAttribute(int device, enum cudaGraphMemAttributeType a,
                                           void *value) {
    if (device) return wb_return(cudaErrorInvalidDevice);
    if (!value) return wb_return(cudaErrorInvalidValue);
    wb_lock();
    const uint64_t figures[] = {[cudaGraphMemAttrUsedMemCurrent] = used,
                                [cudaGraphMemAttrUsedMemHigh] = used_high,
                                [cudaGraphMemAttrReservedMemCurrent] = reserved(),
                                [cudaGraphMemAttrReservedMemHigh] = reserved_high};
    wb_unlock();
    if ((unsigned)a >= sizeof figures / sizeof *figures) return wb_return(cudaErrorInvalidValue);
    *(uint64_t *)value = figures[a];
    return cudaSuccess;
}

cudaError_t cudaDeviceSetGraphMemAttribute(int device, enum cudaGraphMemAttributeType a,
                                           void *value) {
    if (device) return wb_return(cudaErrorInvalidDevice);
    if (!value || *(uint64_t *)value)
        return wb_return(cudaErrorInvalidValue); /* high marks can be put back, only */
    if (a == cudaGraphMemAttrUsedMemHigh) used_high = used;
    else if (a == cudaGraphMemAttrReservedMemHigh) reserved_high = reserved();
    else return wb_return(cudaErrorInvalidValue);
    return cudaSuccess;
}

/* Nothing is kept that no graph needs. */
cudaError_t cudaDeviceGraphMemTrim(int device) {
    return wb_return(device ? cudaErrorInvalidDevice : 0);
}
