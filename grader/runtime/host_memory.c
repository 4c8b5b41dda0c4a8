/* host_memory.c — pinned and registered host memory. Pinned memory is shared with the device at one
 * address. While grading it is plain memory that the runtime only records, because the device must
 * not see host memory then. */
#include "grader/runtime/runtime.h"

#include <stdlib.h>

static int allocate_pinned(void **out, size_t bytes, unsigned flags) {
    const unsigned valid_flags =
        cudaHostAllocPortable | cudaHostAllocMapped | cudaHostAllocWriteCombined;
    const struct wb_session *s;
    int error;
    if (!out) return cudaErrorInvalidValue;
    *out = NULL;
    if (!wb_device(&error) || !(s = wb_session(&error))) return error;
    if (flags & ~valid_flags) return cudaErrorInvalidValue;
    if (!bytes) return 0;
    if (!s->grading || flags & cudaHostAllocMapped)
        return wb_shared_alloc(out, bytes, WB_MEMORY_PINNED, flags);
    if (posix_memalign(out, wb_page_size(), bytes)) return cudaErrorMemoryAllocation;
    return wb_range_add((uint64_t)*out, bytes, WB_MEMORY_PINNED, flags) ? 0
                                                                        : cudaErrorMemoryAllocation;
}

cudaError_t cudaHostAlloc(void **out, size_t bytes, unsigned flags) {
    return wb_return(allocate_pinned(out, bytes, flags));
}
cudaError_t cudaMallocHost(void **out, size_t bytes) {
    return wb_return(allocate_pinned(out, bytes, cudaHostAllocDefault));
}

static int free_pinned(void *p) {
    struct wb_range r;
    const struct wb_session *s;
    int error;
    if (!wb_range_find(p, &r) || r.start != (uint64_t)p || r.kind != WB_MEMORY_PINNED)
        return wb_refuse_pointer(cudaErrorInvalidValue, p,
                                 "cudaFreeHost frees what cudaMallocHost and cudaHostAlloc return, "
                                 "once, by its first address");
    if (wb_is_device(p) && (s = wb_session(&error)) && s->grading)
        return wb_request(free, &((struct wb_req_free){.address = r.start}), NULL);
    if (wb_is_device(p)) return wb_shared_free(p);
    wb_range_remove(r.start);
    free(p);
    return 0;
}

cudaError_t cudaFreeHost(void *p) { return wb_return(p ? free_pinned(p) : 0); }

cudaError_t cudaHostGetFlags(unsigned *flags, void *p) {
    struct wb_range r;
    bool found = flags && wb_range_find(p, &r) &&
                 (r.kind == WB_MEMORY_PINNED || r.kind == WB_MEMORY_REGISTERED);
    if (found)
        *flags = r.flags | cudaHostAllocMapped; /* with unified addressing, all host
                                                 * memory is mapped */
    return wb_return(found ? 0 : cudaErrorInvalidValue);
}

cudaError_t cudaHostGetDevicePointer(void **out, void *p, unsigned flags) {
    struct wb_range r;
    if (!out || flags || !wb_range_find(p, &r) || r.kind == WB_MEMORY_DEVICE)
        return wb_return(cudaErrorInvalidValue);
    if (r.kind == WB_MEMORY_REGISTERED && !r.device_start)
        return wb_return(cudaErrorNotSupported); /* while grading */
    *out = r.kind == WB_MEMORY_REGISTERED ? (void *)(r.device_start + ((uint64_t)p - r.start)) : p;
    return cudaSuccess;
}
