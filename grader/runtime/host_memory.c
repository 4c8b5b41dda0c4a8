/* host_memory.c — pinned and registered host memory. There is no hardware to pin it for, so it is plain memory that the
 * runtime remembers; memory that a kernel shall reach (cudaHostAllocMapped) is managed memory. */
#include "grader/runtime/runtime.h"

#include <stdlib.h>

struct block {
    struct block *next;
    uint8_t *start;
    size_t bytes;
    enum wb_host_kind kind;
    unsigned flags;
};

static struct block *blocks;

static int remember(void *start, size_t bytes, enum wb_host_kind kind, unsigned flags) {
    struct block *b = malloc(sizeof *b);
    if (!b) return cudaErrorMemoryAllocation;
    *b = (struct block){.start = start, .bytes = bytes, .kind = kind, .flags = flags};
    wb_lock();
    b->next = blocks;
    blocks = b;
    wb_unlock();
    return 0;
}

/* Takes the block that starts at `p` off the list. */
static bool forget(const void *p, enum wb_host_kind kind) {
    wb_lock();
    struct block **at = &blocks, *found;
    while (*at && ((*at)->start != p || (*at)->kind != kind)) at = &(*at)->next;
    found = *at;
    if (found) *at = found->next;
    wb_unlock();
    free(found);
    return found;
}

static struct block *holding(const void *p) {
    wb_lock();
    struct block *b = blocks;
    while (b && ((uint8_t *)p < b->start || (uint8_t *)p >= b->start + b->bytes)) b = b->next;
    wb_unlock();
    return b;
}

enum wb_host_kind wb_host_kind(const void *p) {
    const struct block *b = holding(p);
    return b ? b->kind : WB_HOST_UNKNOWN;
}

cudaError_t cudaHostAlloc(void **out, size_t bytes, unsigned flags) {
    int error;
    if (!out) return wb_return(cudaErrorInvalidValue);
    *out = NULL;
    if (!wb_device(&error) || !bytes) return wb_return(error);
    if (flags & cudaHostAllocMapped) return cudaMallocManaged(out, bytes, cudaMemAttachGlobal);
    if (posix_memalign(out, 4096, bytes)) return wb_return(cudaErrorMemoryAllocation);
    return wb_return(remember(*out, bytes, WB_HOST_PINNED, flags));
}

cudaError_t cudaMallocHost(void **out, size_t bytes) { return cudaHostAlloc(out, bytes, cudaHostAllocDefault); }

cudaError_t cudaFreeHost(void *p) {
    if (!p) return cudaSuccess;
    if (wb_is_managed(p)) return cudaFree(p);
    if (!forget(p, WB_HOST_PINNED)) return wb_return(cudaErrorInvalidValue);
    free(p);
    return cudaSuccess;
}

cudaError_t cudaHostRegister(void *p, size_t bytes, unsigned flags) {
    if (!p || !bytes) return wb_return(cudaErrorInvalidValue);
    if (flags & (cudaHostRegisterMapped | cudaHostRegisterIoMemory))
        return wb_unsupported("cudaHostRegister with mapping into the device");
    if (holding(p)) return wb_return(cudaErrorHostMemoryAlreadyRegistered);
    return wb_return(remember(p, bytes, WB_HOST_REGISTERED, flags));
}

cudaError_t cudaHostUnregister(void *p) {
    return wb_return(forget(p, WB_HOST_REGISTERED) ? 0 : cudaErrorHostMemoryNotRegistered);
}

cudaError_t cudaHostGetFlags(unsigned *flags, void *p) {
    if (wb_is_managed(p)) {
        *flags = cudaHostAllocMapped;
        return cudaSuccess;
    }
    const struct block *b = holding(p);
    if (b) *flags = b->flags;
    return wb_return(b ? 0 : cudaErrorInvalidValue);
}

cudaError_t cudaHostGetDevicePointer(void **out, void *p, unsigned flags) {
    if (flags) return wb_return(cudaErrorInvalidValue);
    if (!wb_is_managed(p)) return wb_unsupported("cudaHostGetDevicePointer for memory without cudaHostAllocMapped");
    *out = p;
    return cudaSuccess;
}
