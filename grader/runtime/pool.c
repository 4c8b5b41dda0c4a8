/* pool.c — memory pools, which are names for a device's memory, and hints about managed memory. */
#include "grader/runtime/graph.h"

#include <stdlib.h>
#include <string.h>

struct CUmemPoolHandle_st {
    uint64_t release_threshold, max_bytes; /* bytes; max 0 = no limit */
    uint64_t used_bytes, used_high;
    int reuse_policy[3]; /* follow events, opportunistic, internal dependencies: stored, without
                          * effect */
    bool is_destroyed;   /* destroyed, with allocations that live on */
    unsigned device;
};
/* By device. current_pools: NULL = the default one. */
static struct CUmemPoolHandle_st default_pools[WB_MAX_DEVICES];
static cudaMemPool_t current_pools[WB_MAX_DEVICES];

static cudaMemPool_t default_pool_of(unsigned device) {
    static const struct CUmemPoolHandle_st initial = {.reuse_policy = {1, 1, 1}};
    static bool is_initialized[WB_MAX_DEVICES];
    wb_lock();
    if (!is_initialized[device]) default_pools[device] = initial;
    default_pools[device].device = device;
    is_initialized[device] = true;
    wb_unlock();
    return &default_pools[device];
}

static bool is_default_pool(cudaMemPool_t pool) {
    return pool >= default_pools && pool < default_pools + WB_MAX_DEVICES;
}

static cudaMemPool_t current_pool_of(unsigned device) {
    return current_pools[device] ? current_pools[device] : default_pool_of(device);
}

static cudaError_t return_pool(cudaMemPool_t *out, cudaMemPool_t (*pool_of)(unsigned device),
                               int device) {
    int error;
    if (!wb_device(&error)) return wb_return(error);
    if (wb_check_device_number(device)) return wb_return(cudaErrorInvalidDevice);
    *out = pool_of((unsigned)device);
    return cudaSuccess;
}

cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t *pool, int device) {
    return return_pool(pool, default_pool_of, device);
}
cudaError_t cudaDeviceGetMemPool(cudaMemPool_t *pool, int device) {
    return return_pool(pool, current_pool_of, device);
}

cudaError_t cudaDeviceSetMemPool(int device, cudaMemPool_t pool) {
    if (wb_check_device_number(device)) return wb_return(cudaErrorInvalidDevice);
    if (!pool || pool->device != (unsigned)device) return wb_return(cudaErrorInvalidValue);
    current_pools[device] = pool;
    return cudaSuccess;
}

static int create_pool(cudaMemPool_t *out, const struct cudaMemPoolProps *properties) {
    if (!out || !properties || properties->allocType != cudaMemAllocationTypePinned)
        return cudaErrorInvalidValue;
    if (properties->handleTypes != cudaMemHandleTypeNone)
        return wb_unsupported("cudaMemPoolCreate of a shareable pool");
    if (properties->location.type != cudaMemLocationTypeDevice)
        return wb_unsupported("cudaMemPoolCreate on the host");
    if (wb_check_device_number(properties->location.id)) return cudaErrorInvalidDevice;
    *out = calloc(1, sizeof **out);
    if (!*out) return cudaErrorMemoryAllocation;
#if CUDART_VERSION >= 12020
    (*out)->max_bytes = properties->maxSize;
#endif
    for (int i = 0; i < 3; i++) (*out)->reuse_policy[i] = 1;
    (*out)->device = (unsigned)properties->location.id;
    return 0;
}

cudaError_t cudaMemPoolCreate(cudaMemPool_t *out, const struct cudaMemPoolProps *properties) {
    return wb_return(create_pool(out, properties));
}

cudaError_t cudaMemPoolDestroy(cudaMemPool_t pool) {
    if (!pool || is_default_pool(pool)) return wb_return(cudaErrorInvalidValue);
    if (current_pools[pool->device] == pool) current_pools[pool->device] = NULL;
    wb_lock();
    pool->is_destroyed = true;
    if (!pool->used_bytes) free(pool);
    wb_unlock();
    return cudaSuccess;
}

/* Freed memory is never kept, so there is nothing to trim. */
cudaError_t cudaMemPoolTrimTo(cudaMemPool_t pool, size_t min_bytes) {
    (void)min_bytes;
    return wb_return(pool ? 0 : cudaErrorInvalidValue);
}

static int *reuse_attribute(cudaMemPool_t pool, enum cudaMemPoolAttr a) {
    return a == cudaMemPoolReuseFollowEventDependencies     ? &pool->reuse_policy[0]
           : a == cudaMemPoolReuseAllowOpportunistic        ? &pool->reuse_policy[1]
           : a == cudaMemPoolReuseAllowInternalDependencies ? &pool->reuse_policy[2]
                                                            : NULL;
}

cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t pool, enum cudaMemPoolAttr a, void *value) {
    if (!pool || !value) return wb_return(cudaErrorInvalidValue);
    bool is_high = a == cudaMemPoolAttrUsedMemHigh || a == cudaMemPoolAttrReservedMemHigh;
    if (reuse_attribute(pool, a)) *reuse_attribute(pool, a) = *(int *)value;
    else if (a == cudaMemPoolAttrReleaseThreshold) memcpy(&pool->release_threshold, value, 8);
    else if (is_high && !*(uint64_t *)value) pool->used_high = pool->used_bytes;
    else return wb_return(cudaErrorInvalidValue);
    return cudaSuccess;
}

/* Reserved memory equals used memory. */
cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t pool, enum cudaMemPoolAttr a, void *value) {
    if (!pool || !value) return wb_return(cudaErrorInvalidValue);
    bool is_high = a == cudaMemPoolAttrUsedMemHigh || a == cudaMemPoolAttrReservedMemHigh;
    bool is_current = a == cudaMemPoolAttrUsedMemCurrent || a == cudaMemPoolAttrReservedMemCurrent;
    if (reuse_attribute(pool, a)) *(int *)value = *reuse_attribute(pool, a);
    else if (a == cudaMemPoolAttrReleaseThreshold) memcpy(value, &pool->release_threshold, 8);
    else if (is_high || is_current)
        *(uint64_t *)value = is_high ? pool->used_high : pool->used_bytes;
    else return wb_return(cudaErrorInvalidValue);
    return cudaSuccess;
}

/* A device has access to its own memory, others by cudaDeviceEnablePeerAccess; the host has none.
 */
cudaError_t cudaMemPoolSetAccess(cudaMemPool_t pool, const struct cudaMemAccessDesc *list,
                                 size_t n) {
    if (!pool || (n && !list)) return wb_return(cudaErrorInvalidValue);
    for (size_t i = 0; i < n; i++)
        if (list[i].location.type != cudaMemLocationTypeDevice ||
            (unsigned)list[i].location.id != pool->device ||
            list[i].flags != cudaMemAccessFlagsProtReadWrite)
            return wb_return(cudaErrorInvalidDevice);
    return cudaSuccess;
}

cudaError_t cudaMemPoolGetAccess(enum cudaMemAccessFlags *flags, cudaMemPool_t pool,
                                 struct cudaMemLocation *location) {
    if (!pool || !flags || !location) return wb_return(cudaErrorInvalidValue);
    bool is_device =
        location->type == cudaMemLocationTypeDevice && (unsigned)location->id == pool->device;
    *flags = is_device ? cudaMemAccessFlagsProtReadWrite : cudaMemAccessFlagsProtNone;
    return cudaSuccess;
}

/* During a capture, it becomes a node of the graph, whose address is fixed now. */
static int capture_allocation(struct wb_capture *capture, void **out, size_t bytes,
                              cudaStream_t s) {
    int error =
        capture->invalidated ? cudaErrorStreamCaptureInvalidated : wb_graph_memory_new(out, bytes);
    struct wb_command c = {.kind = WB_ALLOC, .memory = {.p = error ? NULL : *out, .bytes = bytes}};
    return error ? error : wb_issue_command(s, &c);
}

static int allocate_async(void **out, size_t bytes, cudaMemPool_t pool, cudaStream_t s) {
    int error = wb_check_stream(s);
    if (!error && !out) error = cudaErrorInvalidValue;
    if (error) return error;
    if (!pool) pool = current_pool_of(wb_stream_device(s));
    struct wb_capture *capture = wb_stream_capture(s);
    if (capture && capture->graph && bytes) return capture_allocation(capture, out, bytes, s);
    if (pool->max_bytes && pool->used_bytes + bytes > pool->max_bytes)
        return cudaErrorMemoryAllocation;
    error = wb_allocate_ordered(out, bytes, s);
    if (error || !bytes) return error;
    wb_lock();
    wb_range_set_pool(*out, pool);
    pool->used_bytes += bytes;
    if (pool->used_bytes > pool->used_high) pool->used_high = pool->used_bytes;
    wb_unlock();
    return 0;
}

void wb_pool_account_free(struct CUmemPoolHandle_st *pool, uint64_t bytes) {
    if (pool) pool->used_bytes -= bytes;
    if (pool && pool->is_destroyed && !pool->used_bytes) free(pool);
}

cudaError_t cudaMallocAsync(void **out, size_t bytes, cudaStream_t s) {
    return wb_return(allocate_async(out, bytes, NULL, s));
}
cudaError_t cudaMallocFromPoolAsync(void **out, size_t bytes, cudaMemPool_t pool, cudaStream_t s) {
    return wb_return(pool ? allocate_async(out, bytes, pool, s) : cudaErrorInvalidValue);
}

static int free_async(void *p, cudaStream_t s) {
    struct wb_command c = {.kind = WB_FREE, .memory = {.p = p}};
    return p ? wb_issue_command(s, &c) : cudaErrorInvalidValue;
}
cudaError_t cudaFreeAsync(void *p, cudaStream_t s) { return wb_return(free_async(p, s)); }
