/* launch.c — kernel launches and queries about kernels: attributes, occupancy. */
#include "grader/runtime/runtime.h"

#include <string.h>

/* ---- the <<<>>> configuration, between its evaluation and the stub's call ---- */

struct launch_config {
    dim3 grid, block;
    size_t shared;
    cudaStream_t stream;
    const void *call_site; /* return address of the expression k<<<…>>>(…) */
};
enum { MAX_NESTED = 32 }; /* nested launches, in the arguments of others */
static _Thread_local struct launch_config config_stack[MAX_NESTED];
static _Thread_local unsigned config_depth;

unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared,
                                     struct CUstream_st *stream);
cudaError_t __cudaPopCallConfiguration(dim3 *grid, dim3 *block, size_t *shared, void *stream);

/* Returns 0 if the stub is to be called. */
unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared,
                                     struct CUstream_st *stream) {
    if (config_depth == MAX_NESTED) return 1;
    config_stack[config_depth++] =
        (struct launch_config){grid, block, shared, stream, __builtin_return_address(0)};
    return 0;
}

cudaError_t __cudaPopCallConfiguration(dim3 *grid, dim3 *block, size_t *shared, void *stream) {
    if (!config_depth) return wb_return(cudaErrorMissingConfiguration);
    const struct launch_config *c = &config_stack[--config_depth];
    *grid = c->grid;
    *block = c->block;
    *shared = c->shared;
    *(cudaStream_t *)stream = c->stream;
    wb_set_call_site(c->call_site);
    return cudaSuccess;
}

/* ---- launches ---- */

int wb_pack_params(const struct wb_function *f, void *const *args, uint8_t *out) {
    if (f->info.param_bytes > WB_PARAM_BYTES) return cudaErrorInvalidValue;
    memset(out, 0, f->info.param_bytes);
    for (uint32_t i = 0; i < f->info.nparams; i++) {
        const struct wb_param *p = &f->params[i];
        if (p->offset > f->info.param_bytes || p->bytes > f->info.param_bytes - p->offset ||
            !args || !args[i])
            return cudaErrorInvalidValue;
        memcpy(out + p->offset, args[i], p->bytes);
    }
    return 0;
}

/* Returns the cluster size from the launch or cudaFuncSetAttribute. The server knows the kernel's
 * __cluster_dims__. */
static uint32_t pack_cluster(const struct wb_function *f, const dim3 *requested) {
    dim3 c = {f->cluster[0], f->cluster[1] ? f->cluster[1] : 1, f->cluster[2] ? f->cluster[2] : 1};
    if (requested) c = *requested;
    uint32_t large = f->nonportable_cluster ? WB_CLUSTER_LARGE : 0;
    if (!c.x) return large;
    return WB_CLUSTER(c.x < 255 ? c.x : 255, c.y < 255 ? c.y : 255, c.z < 255 ? c.z : 255) | large;
}

static int issue_launch(const void *kernel, dim3 grid, dim3 block, void **args, size_t shared,
                        cudaStream_t stream, bool cooperative, const dim3 *cluster) {
    int error = wb_check_stream(stream);
    if (error) return error;
    struct wb_function *f = wb_get_function(kernel, &error);
    if (!f) return error;
    _Alignas(16) uint8_t params[WB_PARAM_BYTES];
    error = wb_pack_params(f, args, params);
    if (error) return error;
    struct wb_command c = {.kind = WB_LAUNCH,
                           .launch = {kernel, grid, block, shared, stream, cooperative,
                                      pack_cluster(f, cluster), params, f->info.param_bytes}};
    return wb_issue_command(stream, &c);
}

cudaError_t cudaLaunchKernel(const void *f, dim3 grid, dim3 block, void **args, size_t shared,
                             cudaStream_t stream) {
    return wb_return_from(issue_launch(f, grid, block, args, shared, stream, false, NULL),
                          "kernel launch");
}

cudaError_t __cudaLaunchKernel(cudaKernel_t f, dim3 grid, dim3 block, void **args, size_t shared,
                               cudaStream_t stream);
cudaError_t __cudaLaunchKernel(cudaKernel_t f, dim3 grid, dim3 block, void **args, size_t shared,
                               cudaStream_t stream) {
    return wb_return_from(issue_launch(f, grid, block, args, shared, stream, false, NULL),
                          "kernel launch");
}

cudaError_t cudaLaunchCooperativeKernel(const void *f, dim3 grid, dim3 block, void **args,
                                        size_t shared, cudaStream_t stream) {
    return wb_return_from(issue_launch(f, grid, block, args, shared, stream, true, NULL), __func__);
}

/* Records the events of a launch's attributes at the kernel's end: by then all its blocks have
 * started and triggered their dependents. */
static int record_launch_events(const cudaLaunchConfig_t *c) {
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
    dim3 cluster, *requested = NULL;
    for (unsigned i = 0; i < c->numAttrs; i++) {
        const cudaLaunchAttribute *a = &c->attrs[i];
#if CUDART_VERSION >= 12040
        if (a->id == cudaLaunchAttributeDeviceUpdatableKernelNode)
            return wb_unsupported("cudaLaunchKernelEx of a node that the device changes");
#endif
        if (a->id == cudaLaunchAttributeCooperative) cooperative = a->val.cooperative;
        if (a->id != cudaLaunchAttributeClusterDimension) continue;
        cluster = (dim3){a->val.clusterDim.x, a->val.clusterDim.y, a->val.clusterDim.z};
        requested = &cluster;
        if (!cluster.x || !cluster.y || !cluster.z) return wb_return(cudaErrorInvalidClusterSize);
    }
    int error = issue_launch(f, c->gridDim, c->blockDim, args, c->dynamicSmemBytes, c->stream,
                             cooperative, requested);
    return wb_return(error ? error : record_launch_events(c));
}

/* ---- attributes ---- */

cudaError_t cudaFuncGetAttributes(struct cudaFuncAttributes *out, const void *func) {
    int error;
    const struct wb_function *f = wb_get_function(func, &error);
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
    for (unsigned i = 0; i < 3; i++)
        (&out->requiredClusterWidth)[i] =
            (int)(f->cluster[i] ? f->cluster[i] : WB_CLUSTER_DIM(f->info.cluster, i));
    out->clusterDimMustBeSet = f->info.requires_cluster || f->info.cluster;
    out->nonPortableClusterSizeAllowed = f->nonportable_cluster;
    return cudaSuccess;
}

static cudaError_t set_cluster(struct wb_function *f, unsigned i, int value) {
    if (value < 0 || f->info.cluster) return wb_return(cudaErrorInvalidValue);
    f->cluster[i] = (uint32_t)value;
    return cudaSuccess;
}

cudaError_t cudaFuncSetAttribute(const void *func, enum cudaFuncAttribute attribute, int value) {
    int error;
    struct wb_function *f = wb_get_function(func, &error);
    if (!f) return wb_return(error);
    switch ((int)attribute) {
    case cudaFuncAttributeMaxDynamicSharedMemorySize:
        if (value < 0) return wb_return(cudaErrorInvalidValue);
        error = wb_request(kernel_limit,
                           (&(struct wb_req_kernel_limit){f->kernel_id, (uint64_t)value}), NULL);
        if (!error) f->info.max_dynamic_shared = (uint32_t)value;
        f->has_valid_launch = false;
        return wb_return(error);
    case cudaFuncAttributePreferredSharedMemoryCarveout:
        if (value < -1 || value > 100) return wb_return(cudaErrorInvalidValue);
        f->carveout = value; /* a hint */
        return cudaSuccess;
    case cudaFuncAttributeNonPortableClusterSizeAllowed:
        f->nonportable_cluster = value;
        return cudaSuccess;
    case cudaFuncAttributeClusterSchedulingPolicyPreference: return cudaSuccess; /* a hint */
    case cudaFuncAttributeRequiredClusterWidth: return set_cluster(f, 0, value);
    case cudaFuncAttributeRequiredClusterHeight: return set_cluster(f, 1, value);
    case cudaFuncAttributeRequiredClusterDepth: return set_cluster(f, 2, value);
    }
    return wb_return(cudaErrorInvalidValue);
}

cudaError_t cudaFuncSetCacheConfig(const void *func, enum cudaFuncCache config) {
    (void)config; /* a hint that devices since Volta ignore */
    int error;
    return wb_return(wb_get_function(func, &error) ? 0 : error);
}

cudaError_t cudaFuncSetSharedMemConfig(const void *func, enum cudaSharedMemConfig config) {
    (void)config;
    int error;
    return wb_return(wb_get_function(func, &error) ? 0 : error);
}

#if CUDART_VERSION >= 12030
cudaError_t cudaFuncGetName(const char **name, const void *func) {
    int error;
    const struct wb_function *f = wb_get_function(func, &error);
    if (f) *name = f->name;
    return wb_return(f ? 0 : error);
}

#endif

#if CUDART_VERSION >= 12040
cudaError_t cudaFuncGetParamInfo(const void *func, size_t index, size_t *offset, size_t *size) {
    int error;
    const struct wb_function *f = wb_get_function(func, &error);
    if (!f) return wb_return(error);
    if (index >= f->info.nparams) return wb_return(cudaErrorInvalidValue);
    *offset = f->params[index].offset;
    if (size) *size = f->params[index].bytes;
    return cudaSuccess;
}
#endif

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
    struct wb_function *f = wb_get_function(symbol, &error);
    *out = f ? (cudaFunction_t)wb_function_handle(f) : NULL;
    return wb_return(f ? 0 : error);
}

#if CUDART_VERSION >= 12010
cudaError_t cudaGetKernel(cudaKernel_t *out, const void *symbol) {
    int error;
    struct wb_function *f = wb_get_function(symbol, &error);
    *out = f ? (cudaKernel_t)wb_function_handle(f) : NULL;
    return wb_return(f ? 0 : error);
}
#endif

/* ---- occupancy ---- */

static int query_occupancy(const void *func, int threads, size_t shared, uint32_t *blocks) {
    int error;
    const struct wb_function *f = wb_get_function(func, &error);
    if (!f) return error;
    if (threads <= 0) return cudaErrorInvalidValue;
    struct wb_rep_occupancy p;
    struct wb_req_occupancy q = {
        .kernel = f->kernel_id, .dynamic_shared = shared, .threads = (uint32_t)threads};
    error = wb_request(occupancy, &q, &p);
    *blocks = p.blocks;
    return error;
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, const void *func,
                                                          int threads, size_t shared) {
    uint32_t n = 0;
    int error = query_occupancy(func, threads, shared, &n);
    if (!error) *blocks = (int)n;
    return wb_return(error);
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *blocks, const void *func,
                                                                   int threads, size_t shared,
                                                                   unsigned flags) {
    (void)flags;
    return wb_forward(cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks, func, threads, shared));
}

/* Returns the largest size with which `blocks` blocks fit on an SM. */
cudaError_t cudaOccupancyAvailableDynamicSMemPerBlock(size_t *bytes, const void *func, int blocks,
                                                      int threads) {
    int error;
    const struct wb_function *f = wb_get_function(func, &error);
    const struct wb_rep_device_info *d = f ? wb_device(&error) : NULL;
    if (!d) return wb_return(error);
    if (blocks <= 0 || threads <= 0) return wb_return(cudaErrorInvalidValue);
    size_t bytes_per_block = d->shared_per_sm / (unsigned)blocks & ~(size_t)127,
           used = d->shared_reserved + f->info.static_shared;
    *bytes = bytes_per_block > used ? bytes_per_block - used : 0;
    if (*bytes + f->info.static_shared > d->shared_per_block)
        *bytes = d->shared_per_block - f->info.static_shared;
    return cudaSuccess;
}

/* ---- clusters ---- */

cudaError_t cudaOccupancyMaxPotentialClusterSize(int *blocks, const void *func,
                                                 const cudaLaunchConfig_t *c) {
    int error;
    const struct wb_function *f = wb_get_function(func, &error);
    (void)c;
    if (f) *blocks = f->nonportable_cluster ? 16 : 8;
    return wb_return(f ? 0 : error);
}

/* Assumes that a cluster's blocks may run on any SMs. On a GPU they share one GPC. */
cudaError_t cudaOccupancyMaxActiveClusters(int *clusters, const void *func,
                                           const cudaLaunchConfig_t *c) {
    int error;
    uint32_t blocks = 0;
    const struct wb_function *f = wb_get_function(func, &error);
    const struct wb_rep_device_info *d = f ? wb_device(&error) : NULL;
    if (!d) return wb_return(error);
    uint32_t packed_dims = f->info.cluster ? f->info.cluster : pack_cluster(f, NULL);
    for (unsigned i = 0; i < c->numAttrs; i++)
        if (c->attrs[i].id == cudaLaunchAttributeClusterDimension)
            packed_dims = pack_cluster(f, (const dim3 *)&c->attrs[i].val.clusterDim);
    uint32_t n = WB_CLUSTER_DIM(packed_dims, 0) * WB_CLUSTER_DIM(packed_dims, 1) *
                 WB_CLUSTER_DIM(packed_dims, 2);
    error = query_occupancy(func, (int)(c->blockDim.x * c->blockDim.y * c->blockDim.z),
                            c->dynamicSmemBytes, &blocks);
    if (!error) *clusters = (int)(blocks * d->sms / (n ? n : 1));
    return wb_return(error);
}
