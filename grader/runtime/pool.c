/* pool.c — memory pools, which are names for the one device memory, and hints about managed memory. */
#include "grader/runtime/runtime.h"

#include <stdlib.h>
#include <string.h>

struct CUmemPoolHandle_st {
    uint64_t release_threshold;
};
static struct CUmemPoolHandle_st default_pool;
static cudaMemPool_t current_pool = &default_pool;

static cudaError_t give(cudaMemPool_t *out, cudaMemPool_t pool, int device) {
    int error;
    if (!wb_device(&error)) return wb_return(error);
    if (device) return wb_return(cudaErrorInvalidDevice);
    *out = pool;
    return cudaSuccess;
}

cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t *pool, int device) { return give(pool, &default_pool, device); }
cudaError_t cudaDeviceGetMemPool(cudaMemPool_t *pool, int device) { return give(pool, current_pool, device); }

cudaError_t cudaDeviceSetMemPool(int device, cudaMemPool_t pool) {
    if (device) return wb_return(cudaErrorInvalidDevice);
    current_pool = pool;
    return cudaSuccess;
}

cudaError_t cudaMemPoolCreate(cudaMemPool_t *out, const struct cudaMemPoolProps *properties) {
    if (!out || !properties) return wb_return(cudaErrorInvalidValue);
    *out = calloc(1, sizeof **out);
    return wb_return(*out ? 0 : cudaErrorMemoryAllocation);
}

cudaError_t cudaMemPoolDestroy(cudaMemPool_t pool) {
    if (!pool || pool == &default_pool) return wb_return(cudaErrorInvalidValue);
    if (current_pool == pool) current_pool = &default_pool;
    free(pool);
    return cudaSuccess;
}

cudaError_t cudaMemPoolTrimTo(cudaMemPool_t pool, size_t keep) {
    (void)pool, (void)keep;
    return cudaSuccess;
}

cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t pool, enum cudaMemPoolAttr a, void *value) {
    if (!pool || !value) return wb_return(cudaErrorInvalidValue);
    if (a == cudaMemPoolAttrReleaseThreshold) memcpy(&pool->release_threshold, value, 8);
    return cudaSuccess;
}

/* Freed memory is never kept, so what is reserved is what is used. */
cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t pool, enum cudaMemPoolAttr a, void *value) {
    if (!pool || !value) return wb_return(cudaErrorInvalidValue);
    size_t unused = 0, total = 0;
    switch ((int)a) {
    case cudaMemPoolReuseFollowEventDependencies:
    case cudaMemPoolReuseAllowOpportunistic:
    case cudaMemPoolReuseAllowInternalDependencies: *(int *)value = 1; return cudaSuccess;
    case cudaMemPoolAttrReleaseThreshold: memcpy(value, &pool->release_threshold, 8); return cudaSuccess;
    }
    cudaError_t error = cudaMemGetInfo(&unused, &total);
    *(uint64_t *)value = total - unused;
    return error;
}

cudaError_t cudaMallocFromPoolAsync(void **out, size_t bytes, cudaMemPool_t pool, cudaStream_t s) {
    return pool ? cudaMallocAsync(out, bytes, s) : wb_return(cudaErrorInvalidValue);
}

/* ---- hints ---- */

static cudaError_t hint(const void *p, cudaStream_t s) {
    int error = wb_check_stream(s);
    if (!error && !wb_is_managed(p)) error = cudaErrorInvalidValue;
    return wb_return(error);
}

#if CUDART_VERSION >= 13000
cudaError_t cudaMemPrefetchAsync(const void *p, size_t n, struct cudaMemLocation to, unsigned flags, cudaStream_t s) {
    (void)n, (void)to, (void)flags;
    return hint(p, s);
}
cudaError_t cudaMemAdvise(const void *p, size_t n, enum cudaMemoryAdvise advice, struct cudaMemLocation where) {
    (void)n, (void)advice, (void)where;
    return hint(p, 0);
}
#else
cudaError_t cudaMemPrefetchAsync(const void *p, size_t n, int device, cudaStream_t s) {
    (void)n, (void)device;
    return hint(p, s);
}
cudaError_t cudaMemAdvise(const void *p, size_t n, enum cudaMemoryAdvise advice, int device) {
    (void)n, (void)advice, (void)device;
    return hint(p, 0);
}
#if CUDART_VERSION >= 12020
cudaError_t cudaMemPrefetchAsync_v2(const void *p, size_t n, struct cudaMemLocation to, unsigned flags,
                                    cudaStream_t s) {
    (void)n, (void)to, (void)flags;
    return hint(p, s);
}
cudaError_t cudaMemAdvise_v2(const void *p, size_t n, enum cudaMemoryAdvise advice, struct cudaMemLocation where) {
    (void)n, (void)advice, (void)where;
    return hint(p, 0);
}
#endif
#endif
