/* driver_wrappers.c — driver API calls that only wrap a runtime call: those of streams, events,
 * graphs, pools and kernels that driver.c does not have. */
#include "grader/runtime/driver.h"

#include <string.h>

/* ---- the device ---- */

CUresult cuDeviceGetPCIBusId(char *out, int size, CUdevice d) {
    return wb_driver_check_device(d) ? wb_driver_check_device(d)
                                     : wb_driver_result(cudaDeviceGetPCIBusId(out, size, d));
}
CUresult cuDeviceGetUuid(CUuuid *out, CUdevice d) {
    struct cudaDeviceProp p;
    if (wb_driver_check_device(d)) return wb_driver_check_device(d);
    CUresult error = wb_driver_result(cudaGetDeviceProperties(&p, d));
    if (!error) memcpy(out, &p.uuid, sizeof *out);
    return error;
}
CUresult cuDeviceGetByPCIBusId(CUdevice *d, const char *id) {
    return WITH_DRIVER(cudaDeviceGetByPCIBusId(d, id));
}
CUresult cuCtxGetLimit(size_t *value, CUlimit limit) {
    return WITH_CONTEXT(cudaDeviceGetLimit(value, (enum cudaLimit)limit));
}
CUresult cuCtxSetLimit(CUlimit limit, size_t value) {
    return WITH_CONTEXT(cudaDeviceSetLimit((enum cudaLimit)limit, value));
}
CUresult cuCtxGetCacheConfig(CUfunc_cache *config) {
    return WITH_CONTEXT(cudaDeviceGetCacheConfig((enum cudaFuncCache *)config));
}
CUresult cuCtxSetCacheConfig(CUfunc_cache config) {
    return WITH_CONTEXT(cudaDeviceSetCacheConfig((enum cudaFuncCache)config));
}
CUresult cuCtxGetStreamPriorityRange(int *least_priority, int *greatest_priority) {
    return WITH_CONTEXT(cudaDeviceGetStreamPriorityRange(least_priority, greatest_priority));
}

/* ---- memory ---- */

CUresult cuMemAllocAsync(CUdeviceptr *p, size_t n, CUstream s) {
    return WITH_STREAM(s, cudaMallocAsync((void **)p, n, s));
}
CUresult cuMemAllocFromPoolAsync(CUdeviceptr *p, size_t n, CUmemoryPool pool, CUstream s) {
    return WITH_STREAM(s, cudaMallocFromPoolAsync((void **)p, n, pool, s));
}
CUresult cuMemFreeAsync(CUdeviceptr p, CUstream s) {
    return WITH_STREAM(s, cudaFreeAsync((void *)p, s));
}
CUresult cuMemPoolCreate(CUmemoryPool *out, const CUmemPoolProps *properties) {
    return WITH_DRIVER(
        cudaMemPoolCreate(out, (const struct cudaMemPoolProps *)properties)); /* the same fields */
}
CUresult cuMemPoolDestroy(CUmemoryPool pool) { return WITH_DRIVER(cudaMemPoolDestroy(pool)); }
CUresult cuMemPoolTrimTo(CUmemoryPool pool, size_t kept_bytes) {
    return WITH_DRIVER(cudaMemPoolTrimTo(pool, kept_bytes));
}
CUresult cuMemPoolSetAccess(CUmemoryPool pool, const CUmemAccessDesc *list, size_t count) {
    return WITH_DRIVER(cudaMemPoolSetAccess(pool, (const struct cudaMemAccessDesc *)list, count));
}
CUresult cuMemPoolGetAccess(CUmemAccess_flags *out, CUmemoryPool pool, CUmemLocation *location) {
    return WITH_DRIVER(cudaMemPoolGetAccess((enum cudaMemAccessFlags *)out, pool,
                                            (struct cudaMemLocation *)location));
}
CUresult cuDeviceGetMemPool(CUmemoryPool *pool, CUdevice d) {
    return wb_driver_check_device(d) ? wb_driver_check_device(d)
                                     : wb_driver_result(cudaDeviceGetMemPool(pool, d));
}
CUresult cuDeviceSetMemPool(CUdevice d, CUmemoryPool pool) {
    return wb_driver_check_device(d) ? wb_driver_check_device(d)
                                     : wb_driver_result(cudaDeviceSetMemPool(d, pool));
}
CUresult cuDeviceGetDefaultMemPool(CUmemoryPool *pool, CUdevice d) {
    return wb_driver_check_device(d) ? wb_driver_check_device(d)
                                     : wb_driver_result(cudaDeviceGetDefaultMemPool(pool, d));
}
CUresult cuMemPoolSetAttribute(CUmemoryPool pool, CUmemPool_attribute a, void *value) {
    return WITH_DRIVER(cudaMemPoolSetAttribute(pool, (enum cudaMemPoolAttr)a, value));
}
CUresult cuMemPoolGetAttribute(CUmemoryPool pool, CUmemPool_attribute a, void *value) {
    return WITH_DRIVER(cudaMemPoolGetAttribute(pool, (enum cudaMemPoolAttr)a, value));
}
CUresult cuMemcpyAsync(CUdeviceptr to, CUdeviceptr from, size_t n, CUstream s) {
    return WITH_CONTEXT(cudaMemcpyAsync((void *)to, (void *)from, n, cudaMemcpyDefault, s));
}

/* ---- kernels ---- */

CUresult cuFuncGetName(const char **name, CUfunction f) {
    int error;
    const struct wb_function *function = wb_get_function(f, &error);
    if (function) *name = function->name;
    return function ? CUDA_SUCCESS : wb_driver_result(error);
}

CUresult cuLaunchKernelEx(const CUlaunchConfig *c, CUfunction f, void **params, void **extra) {
    if (!c || extra) return CUDA_ERROR_INVALID_VALUE;
    cudaLaunchConfig_t config = {.gridDim = {c->gridDimX, c->gridDimY, c->gridDimZ},
                                 .blockDim = {c->blockDimX, c->blockDimY, c->blockDimZ},
                                 .dynamicSmemBytes = c->sharedMemBytes,
                                 .stream = c->hStream,
                                 .attrs = (cudaLaunchAttribute *)c->attrs, /* the same structure */
                                 .numAttrs = c->numAttrs};
    return WITH_CONTEXT(cudaLaunchKernelExC(&config, f, params));
}
CUresult cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *blocks, CUfunction f,
                                                              int threads, size_t shared,
                                                              unsigned flags) {
    return WITH_CONTEXT(
        cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, f, threads, shared, flags));
}

struct occupancy_query {
    CUoccupancyB2DSize shared_for_block; /* by the number of threads; NULL: always `shared` */
    size_t shared;
    unsigned flags;
    int block_size_limit; /* threads of a block; 0 = the maximum */
};

/* Computes the largest block size, in whole warps, with the best occupancy, and the grid that fills
 * the device. */
static int choose_block_size(int *grid, int *block, CUfunction f, const struct occupancy_query *c) {
    struct cudaFuncAttributes a;
    struct cudaDeviceProp p;
    int error = cudaFuncGetAttributes(&a, f), best = 0;
    if (!error) error = cudaGetDeviceProperties(&p, 0);
    int max_threads = error ? 0
                      : c->block_size_limit && c->block_size_limit < a.maxThreadsPerBlock
                          ? c->block_size_limit
                          : a.maxThreadsPerBlock;
    for (int threads = max_threads, n; !error && threads > 0; threads = (threads - 1) / 32 * 32) {
        size_t shared = c->shared_for_block ? c->shared_for_block(threads) : c->shared;
        error = cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&n, f, threads, shared,
                                                                       c->flags);
        if (error || n * threads <= best) continue;
        best = n * threads;
        *block = threads;
        *grid = n * p.multiProcessorCount;
    }
    return error;
}
CUresult cuOccupancyMaxPotentialBlockSizeWithFlags(int *grid, int *block, CUfunction f,
                                                   CUoccupancyB2DSize shared_for_block,
                                                   size_t shared, int block_size_limit,
                                                   unsigned flags) {
    struct occupancy_query c = {shared_for_block, shared, flags, block_size_limit};
    return WITH_CONTEXT(choose_block_size(grid, block, f, &c));
}
CUresult cuOccupancyMaxPotentialBlockSize(int *grid, int *block, CUfunction f,
                                          CUoccupancyB2DSize shared_for_block, size_t shared,
                                          int block_size_limit) {
    return cuOccupancyMaxPotentialBlockSizeWithFlags(grid, block, f, shared_for_block, shared,
                                                     block_size_limit, 0);
}

/* ---- libraries ---- */

CUresult cuLibraryLoadData(CUlibrary *out, const void *code, CUjit_option *jit, void **jit_values,
                           unsigned njit, CUlibraryOption *options, void **values, unsigned n) {
    (void)jit, (void)jit_values, (void)njit, (void)options, (void)values, (void)n;
    return WITH_CONTEXT(wb_library_load((struct wb_module **)out, code));
}
CUresult cuLibraryUnload(CUlibrary l) {
    return WITH_CONTEXT(wb_library_unload((struct wb_module *)l));
}
CUresult cuLibraryGetKernel(CUkernel *out, CUlibrary l, const char *name) {
    return WITH_CONTEXT(
        wb_library_get_kernel((struct wb_function **)out, (struct wb_module *)l, name));
}
CUresult cuLibraryGetModule(CUmodule *out, CUlibrary l) {
    *out = (CUmodule)l;
    return wb_driver_check_context();
}
CUresult cuKernelGetFunction(CUfunction *out, CUkernel k) {
    *out = (CUfunction)k;
    return wb_driver_check_context();
}

/* ---- streams, events, graphs ---- */

CUresult cuLaunchHostFunc(CUstream s, CUhostFn f, void *data) {
    return WITH_CONTEXT(cudaLaunchHostFunc(s, f, data));
}
CUresult cuStreamAddCallback(CUstream s, CUstreamCallback f, void *data, unsigned flags) {
    return WITH_CONTEXT(cudaStreamAddCallback(s, (cudaStreamCallback_t)f, data, flags));
}
/* Both interfaces number attributes alike, and lay their values out alike. */
CUresult cuStreamGetAttribute(CUstream s, CUstreamAttrID id, CUstreamAttrValue *value) {
    return WITH_STREAM(
        s, cudaStreamGetAttribute(s, (cudaStreamAttrID)id, (cudaStreamAttrValue *)value));
}
CUresult cuStreamSetAttribute(CUstream s, CUstreamAttrID id, const CUstreamAttrValue *value) {
    return WITH_STREAM(
        s, cudaStreamSetAttribute(s, (cudaStreamAttrID)id, (const cudaStreamAttrValue *)value));
}
CUresult cuStreamAttachMemAsync(CUstream s, CUdeviceptr p, size_t n, unsigned flags) {
    return WITH_STREAM(s, cudaStreamAttachMemAsync(s, (void *)p, n, flags));
}
CUresult cuStreamCopyAttributes(CUstream to, CUstream from) {
    return WITH_STREAM(to, cudaStreamCopyAttributes(to, from));
}
CUresult cuStreamGetFlags(CUstream s, unsigned *flags) {
    return WITH_CONTEXT(cudaStreamGetFlags(s, flags));
}
CUresult cuStreamGetPriority(CUstream s, int *priority) {
    return WITH_CONTEXT(cudaStreamGetPriority(s, priority));
}
CUresult cuEventRecordWithFlags(CUevent e, CUstream s, unsigned flags) {
    return WITH_CONTEXT(cudaEventRecordWithFlags(e, s, flags));
}
CUresult cuStreamBeginCapture(CUstream s, CUstreamCaptureMode mode) {
    return WITH_CONTEXT(cudaStreamBeginCapture(s, (enum cudaStreamCaptureMode)mode));
}
CUresult cuStreamEndCapture(CUstream s, CUgraph *g) {
    return WITH_CONTEXT(cudaStreamEndCapture(s, g));
}
CUresult cuStreamIsCapturing(CUstream s, CUstreamCaptureStatus *status) {
    return WITH_CONTEXT(cudaStreamIsCapturing(s, (enum cudaStreamCaptureStatus *)status));
}
CUresult cuGraphCreate(CUgraph *g, unsigned flags) {
    return WITH_CONTEXT(cudaGraphCreate(g, flags));
}
CUresult cuGraphDestroy(CUgraph g) { return WITH_CONTEXT(cudaGraphDestroy(g)); }
CUresult cuGraphInstantiateWithFlags(CUgraphExec *e, CUgraph g, unsigned long long flags) {
    return WITH_CONTEXT(cudaGraphInstantiateWithFlags(e, g, flags));
}
CUresult cuGraphExecDestroy(CUgraphExec e) { return WITH_CONTEXT(cudaGraphExecDestroy(e)); }
CUresult cuGraphLaunch(CUgraphExec e, CUstream s) { return WITH_CONTEXT(cudaGraphLaunch(e, s)); }
