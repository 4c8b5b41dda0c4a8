/* launch.c — kernel launches and what is asked about kernels: attributes, occupancy. */
#include "grader/runtime/runtime.h"

#include <string.h>

/* ---- the <<<>>> configuration, between its evaluation and the stub's call ---- */

struct configuration {
    dim3 grid, block;
    size_t shared;
    cudaStream_t stream;
};
enum { MAX_NESTED = 32 }; /* launches whose arguments launch */
static _Thread_local struct configuration configurations[MAX_NESTED];
static _Thread_local unsigned nconfigurations;

unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared, struct CUstream_st *stream);
cudaError_t __cudaPopCallConfiguration(dim3 *grid, dim3 *block, size_t *shared, void *stream);

/* Not 0 = do not call the stub. */
unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared, struct CUstream_st *stream) {
    if (nconfigurations == MAX_NESTED) return 1;
    configurations[nconfigurations++] = (struct configuration){grid, block, shared, stream};
    return 0;
}

cudaError_t __cudaPopCallConfiguration(dim3 *grid, dim3 *block, size_t *shared, void *stream) {
    if (!nconfigurations) return wb_return(cudaErrorMissingConfiguration);
    const struct configuration *c = &configurations[--nconfigurations];
    *grid = c->grid;
    *block = c->block;
    *shared = c->shared;
    *(cudaStream_t *)stream = c->stream;
    return cudaSuccess;
}

/* ---- launches ---- */

int wb_pack(const struct wb_function *f, void *const *args, uint8_t *out) {
    if (f->info.param_bytes > WB_PARAMS) return cudaErrorInvalidValue;
    memset(out, 0, f->info.param_bytes);
    for (uint32_t i = 0; i < f->info.nparams; i++) {
        const struct wb_param *p = &f->params[i];
        if (p->offset > f->info.param_bytes || p->bytes > f->info.param_bytes - p->offset || !args || !args[i])
            return cudaErrorInvalidValue;
        memcpy(out + p->offset, args[i], p->bytes);
    }
    return 0;
}

static int launch(const void *kernel, dim3 grid, dim3 block, void **args, size_t shared, cudaStream_t stream,
                  bool cooperative) {
    int error = wb_check_stream(stream);
    if (error) return error;
    struct wb_function *f = wb_function(kernel, &error);
    if (!f) return error;
    _Alignas(16) uint8_t params[WB_PARAMS];
    error = wb_pack(f, args, params);
    if (error) return error;
    struct wb_command c = {.kind = WB_LAUNCH,
                           .launch = {kernel, grid, block, shared, stream, cooperative, params, f->info.param_bytes}};
    return wb_issue(stream, &c);
}

cudaError_t cudaLaunchKernel(const void *f, dim3 grid, dim3 block, void **args, size_t shared, cudaStream_t stream) {
    return wb_return(launch(f, grid, block, args, shared, stream, false));
}

cudaError_t __cudaLaunchKernel(cudaKernel_t f, dim3 grid, dim3 block, void **args, size_t shared, cudaStream_t stream);
cudaError_t __cudaLaunchKernel(cudaKernel_t f, dim3 grid, dim3 block, void **args, size_t shared, cudaStream_t stream) {
    return wb_return(launch(f, grid, block, args, shared, stream, false));
}

cudaError_t cudaLaunchCooperativeKernel(const void *f, dim3 grid, dim3 block, void **args, size_t shared,
                                        cudaStream_t stream) {
    return wb_return(launch(f, grid, block, args, shared, stream, true));
}

/* Events that a launch's attributes name: a kernel's blocks have all begun, or let go of what waits for them, when it is done. */
static int record_events(const cudaLaunchConfig_t *c) {
    int error = 0;
    for (unsigned i = 0; !error && i < c->numAttrs; i++) {
        const cudaLaunchAttribute *a = &c->attrs[i];
        if (a->id == cudaLaunchAttributeProgrammaticEvent)
            error = cudaEventRecord(a->val.programmaticEvent.event, c->stream);
#if CUDART_VERSION >= 12030
        if (a->id == cudaLaunchAttributeLaunchCompletionEvent)
            error = cudaEventRecord(a->val.launchCompletionEvent.event, c->stream);
#endif
    }
    return error;
}

cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t *c, const void *f, void **args) {
    bool cooperative = false;
    for (unsigned i = 0; i < c->numAttrs; i++) {
        const cudaLaunchAttribute *a = &c->attrs[i];
#if CUDART_VERSION >= 12040
        if (a->id == cudaLaunchAttributeDeviceUpdatableKernelNode)
            return wb_unsupported("cudaLaunchKernelEx of a node that the device changes");
#endif
        if (a->id == cudaLaunchAttributeCooperative) cooperative = a->val.cooperative;
        if (a->id == cudaLaunchAttributeClusterDimension &&
            a->val.clusterDim.x * a->val.clusterDim.y * a->val.clusterDim.z != 1)
            return wb_unsupported("cudaLaunchKernelEx with thread block clusters");
    }
    int error = launch(f, c->gridDim, c->blockDim, args, c->dynamicSmemBytes, c->stream, cooperative);
    return wb_return(error ? error : record_events(c));
}

/* ---- attributes ---- */

cudaError_t cudaFuncGetAttributes(struct cudaFuncAttributes *out, const void *func) {
    int error;
    const struct wb_function *f = wb_function(func, &error);
    const struct wb_rep_device_info *d = f ? wb_device(&error) : NULL;
    if (!d) return wb_return(error);
    memset(out, 0, sizeof *out);
    out->sharedSizeBytes = f->info.static_shared;
    out->constSizeBytes = f->info.const_bytes;
    out->localSizeBytes = f->info.local_bytes;
    out->maxThreadsPerBlock = (int)f->info.max_threads;
    out->numRegs = (int)f->info.registers;
    out->ptxVersion = out->binaryVersion = (int)(d->cc_major * 10 + d->cc_minor);
    out->maxDynamicSharedSizeBytes = (int)f->info.max_dynamic_shared;
    out->preferredShmemCarveout = f->carveout;
    return cudaSuccess;
}

cudaError_t cudaFuncSetAttribute(const void *func, enum cudaFuncAttribute attribute, int value) {
    int error;
    struct wb_function *f = wb_function(func, &error);
    if (!f) return wb_return(error);
    switch ((int)attribute) {
    case cudaFuncAttributeMaxDynamicSharedMemorySize:
        if (value < 0) return wb_return(cudaErrorInvalidValue);
        error = wb_ask(kernel_limit, (&(struct wb_req_kernel_limit){f->kernel, (uint64_t)value}), NULL);
        if (!error) f->info.max_dynamic_shared = (uint32_t)value;
        f->accepted = false;
        return wb_return(error);
    case cudaFuncAttributePreferredSharedMemoryCarveout:
        if (value < -1 || value > 100) return wb_return(cudaErrorInvalidValue);
        f->carveout = value; /* a hint */
        return cudaSuccess;
    case cudaFuncAttributeNonPortableClusterSizeAllowed: return cudaSuccess;
    }
    return wb_unsupported("cudaFuncSetAttribute for clusters");
}

cudaError_t cudaFuncSetCacheConfig(const void *func, enum cudaFuncCache config) {
    (void)config; /* a hint that devices since Volta do without */
    int error;
    return wb_return(wb_function(func, &error) ? 0 : error);
}

cudaError_t cudaFuncSetSharedMemConfig(const void *func, enum cudaSharedMemConfig config) {
    (void)config;
    int error;
    return wb_return(wb_function(func, &error) ? 0 : error);
}

cudaError_t cudaFuncGetName(const char **name, const void *func) {
    int error;
    const struct wb_function *f = wb_function(func, &error);
    if (f) *name = f->name;
    return wb_return(f ? 0 : error);
}

cudaError_t cudaFuncGetParamInfo(const void *func, size_t index, size_t *offset, size_t *size) {
    int error;
    const struct wb_function *f = wb_function(func, &error);
    if (!f) return wb_return(error);
    if (index >= f->info.nparams) return wb_return(cudaErrorInvalidValue);
    *offset = f->params[index].offset;
    if (size) *size = f->params[index].bytes;
    return cudaSuccess;
}

#if CUDART_VERSION >= 13020
cudaError_t cudaFuncGetParamCount(const void *func, size_t *count) {
    int error;
    const struct wb_function *f = wb_function(func, &error);
    if (f) *count = f->info.nparams;
    return wb_return(f ? 0 : error);
}
#endif

cudaError_t cudaGetFuncBySymbol(cudaFunction_t *out, const void *symbol) {
    int error;
    struct wb_function *f = wb_function(symbol, &error);
    *out = (cudaFunction_t)f;
    return wb_return(f ? 0 : error);
}

cudaError_t cudaGetKernel(cudaKernel_t *out, const void *symbol) {
    int error;
    struct wb_function *f = wb_function(symbol, &error);
    *out = (cudaKernel_t)f;
    return wb_return(f ? 0 : error);
}

/* ---- occupancy ---- */

static int occupancy(const void *func, int threads, size_t shared, uint32_t *blocks) {
    int error;
    const struct wb_function *f = wb_function(func, &error);
    if (!f) return error;
    if (threads <= 0) return cudaErrorInvalidValue;
    struct wb_rep_occupancy p;
    struct wb_req_occupancy q = {.kernel = f->kernel, .dynamic_shared = shared, .threads = (uint32_t)threads};
    error = wb_ask(occupancy, &q, &p);
    *blocks = p.blocks;
    return error;
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, const void *func, int threads, size_t shared) {
    uint32_t n = 0;
    int error = occupancy(func, threads, shared, &n);
    if (!error) *blocks = (int)n;
    return wb_return(error);
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *blocks, const void *func, int threads,
                                                                   size_t shared, unsigned flags) {
    (void)flags;
    return cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks, func, threads, shared);
}

/* The most that leaves room for `blocks` blocks on a multiprocessor. */
cudaError_t cudaOccupancyAvailableDynamicSMemPerBlock(size_t *bytes, const void *func, int blocks, int threads) {
    int error;
    const struct wb_function *f = wb_function(func, &error);
    const struct wb_rep_device_info *d = f ? wb_device(&error) : NULL;
    if (!d) return wb_return(error);
    if (blocks <= 0 || threads <= 0) return wb_return(cudaErrorInvalidValue);
    size_t share = d->shared_per_sm / (unsigned)blocks & ~(size_t)127,
           used = d->shared_reserved + f->info.static_shared;
    *bytes = share > used ? share - used : 0;
    if (*bytes + f->info.static_shared > d->shared_per_block) *bytes = d->shared_per_block - f->info.static_shared;
    return cudaSuccess;
}
