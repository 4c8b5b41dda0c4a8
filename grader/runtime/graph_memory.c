/* graph_memory.c — memory of a graph's allocation nodes. Its address is fixed when the node is
 * created. So we allocate the memory then, and launches only mark it as allocated or free. */
#include "grader/runtime/graph.h"

#include <stdlib.h>

struct graph_allocation {
    struct graph_allocation *next;
    void *p;
    size_t bytes;
    unsigned refcount; /* nodes */
    bool is_allocated; /* allocated by a launch, not freed yet */
};

static struct graph_allocation *allocations;
static uint64_t used_bytes, used_high, reserved_high;

static uint64_t reserved_bytes(void) {
    uint64_t sum = 0;
    for (const struct graph_allocation *m = allocations; m; m = m->next) sum += m->bytes;
    return sum;
}

static struct graph_allocation *find_allocation(const void *p) {
    struct graph_allocation *m = allocations;
    while (m && m->p != p) m = m->next;
    return m;
}

/* Its last user has gone. */
static void free_if_unused(struct graph_allocation *m) {
    struct graph_allocation **at = &allocations;
    if (m->refcount || m->is_allocated) return;
    while (*at != m) at = &(*at)->next;
    *at = m->next;
    if (wb_range_remove((uint64_t)m->p))
        wb_post(free, &((struct wb_req_free){.address = (uint64_t)m->p, .is_node = 1}));
    free(m);
}

static int add_allocation(uint64_t address, size_t bytes, void **out) {
    struct graph_allocation *m = calloc(1, sizeof *m);
    if (!m || !wb_range_add(address, bytes, WB_MEMORY_DEVICE, 0))
        return free(m), cudaErrorMemoryAllocation;
    wb_lock();
    *m = (struct graph_allocation){.next = allocations, .p = (void *)address, .bytes = bytes};
    allocations = m;
    if (reserved_bytes() > reserved_high) reserved_high = reserved_bytes();
    wb_unlock();
    *out = m->p;
    return 0;
}

int wb_graph_memory_new(void **out, size_t bytes) {
    struct wb_rep_alloc p;
    int error = wb_request(alloc, &((struct wb_req_alloc){.bytes = bytes, .is_node = 1}), &p);
    return error ? error : add_allocation(p.address, bytes, out);
}

int wb_graph_condition_word_new(void **out) {
    struct wb_rep_condition p;
    int error = wb_request(condition, NULL, &p);
    return error ? error : add_allocation(p.address, sizeof(uint32_t), out);
}

void wb_graph_memory_retain(void *p) {
    wb_lock();
    struct graph_allocation *m = find_allocation(p);
    if (m) m->refcount++;
    wb_unlock();
}

void wb_graph_memory_release(void *p) {
    wb_lock();
    struct graph_allocation *m = find_allocation(p);
    if (m) m->refcount--, free_if_unused(m);
    wb_unlock();
}

int wb_graph_memory_alloc(void *p, bool auto_free) {
    wb_lock();
    struct graph_allocation *m = find_allocation(p);
    int error = !m || (m->is_allocated && !auto_free) ? cudaErrorInvalidValue : 0;
    if (!error && !m->is_allocated) m->is_allocated = true, used_bytes += m->bytes;
    if (used_bytes > used_high) used_high = used_bytes;
    wb_unlock();
    return error;
}

int wb_graph_memory_free(void *p) {
    if (!allocations) return -1;
    wb_lock();
    struct graph_allocation *m = find_allocation(p);
    int error = !m ? -1 : m->is_allocated ? 0 : cudaErrorInvalidValue;
    if (!error) m->is_allocated = false, used_bytes -= m->bytes, free_if_unused(m);
    wb_unlock();
    return error;
}

/* ---- queries ---- */

cudaError_t cudaDeviceGetGraphMemAttribute(int device, enum cudaGraphMemAttributeType a,
                                           void *value) {
    if (device) return wb_return(cudaErrorInvalidDevice);
    if (!value) return wb_return(cudaErrorInvalidValue);
    wb_lock();
    const uint64_t values[] = {[cudaGraphMemAttrUsedMemCurrent] = used_bytes,
                               [cudaGraphMemAttrUsedMemHigh] = used_high,
                               [cudaGraphMemAttrReservedMemCurrent] = reserved_bytes(),
                               [cudaGraphMemAttrReservedMemHigh] = reserved_high};
    wb_unlock();
    if ((unsigned)a >= sizeof values / sizeof *values) return wb_return(cudaErrorInvalidValue);
    *(uint64_t *)value = values[a];
    return cudaSuccess;
}

cudaError_t cudaDeviceSetGraphMemAttribute(int device, enum cudaGraphMemAttributeType a,
                                           void *value) {
    if (device) return wb_return(cudaErrorInvalidDevice);
    if (!value || *(uint64_t *)value)
        return wb_return(cudaErrorInvalidValue); /* only high-water marks can be reset */
    if (a == cudaGraphMemAttrUsedMemHigh) used_high = used_bytes;
    else if (a == cudaGraphMemAttrReservedMemHigh) reserved_high = reserved_bytes();
    else return wb_return(cudaErrorInvalidValue);
    return cudaSuccess;
}

/* Unused memory is never kept. */
cudaError_t cudaDeviceGraphMemTrim(int device) {
    return wb_return(device ? cudaErrorInvalidDevice : 0);
}
