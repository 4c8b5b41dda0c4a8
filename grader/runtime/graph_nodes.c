/* graph_nodes.c — creates graph nodes and gets or sets their parameters, in a graph or an
 * executable graph. All calls for one kind of node share one conversion to a command. */
#include "grader/runtime/graph.h"

#include <stdlib.h>
#include <string.h>

static int add_command_node(cudaGraphNode_t *out, cudaGraph_t g, const cudaGraphNode_t *deps,
                            size_t ndeps, const struct wb_command *c) {
    return g && out && (!ndeps || deps) ? wb_graph_add(g, c, deps, ndeps, out)
                                        : cudaErrorInvalidValue;
}

/* Returns the executable graph's node for a node of the original graph. */
static cudaGraphNode_t exec_node(cudaGraphExec_t x, cudaGraphNode_t node) {
    return x && node ? wb_graph_copy_of(x->graph, node) : NULL;
}

/* ---- kernels ---- */

/* Parameters that the caller has packed already: {CU_LAUNCH_PARAM_BUFFER_POINTER, p,
 * CU_LAUNCH_PARAM_BUFFER_SIZE, &n, END}. */
static int copy_packed_params(void **extra, uint8_t *params, uint32_t bytes) {
    const void *from = NULL;
    size_t n = 0;
    for (; *extra; extra += 2) {
        if (extra[0] == (void *)1) from = extra[1];
        if (extra[0] == (void *)2) n = *(size_t *)extra[1];
    }
    if (!from || n < bytes) return cudaErrorInvalidValue;
    memcpy(params, from, bytes);
    return 0;
}

/* `params` must hold WB_PARAM_BYTES bytes, and live as long as the command. */
static int make_kernel_command(const struct cudaKernelNodeParams *p, uint8_t *params,
                               struct wb_command *c) {
    int error;
    const struct wb_function *f = p ? wb_get_function(p->func, &error) : NULL;
    if (!f) return p ? error : cudaErrorInvalidValue;
    *c = (struct wb_command){.kind = WB_LAUNCH,
                             .launch = {.func = p->func,
                                        .grid = p->gridDim,
                                        .block = p->blockDim,
                                        .shared = p->sharedMemBytes,
                                        .params = params,
                                        .param_bytes = f->info.param_bytes}};
    return p->extra ? copy_packed_params(p->extra, params, f->info.param_bytes)
                    : wb_pack_params(f, p->kernelParams, params);
}

static int set_kernel_params(cudaGraphNode_t node, const struct cudaKernelNodeParams *p) {
    uint8_t params[WB_PARAM_BYTES];
    struct wb_command c;
    int error = node ? make_kernel_command(p, params, &c) : cudaErrorInvalidValue;
    if (!error) c.launch.cooperative = node->command.launch.cooperative;
    return error ? error : wb_graph_replace(node, &c);
}

/* The node owns the returned pointers, which are valid until it changes. */
static int get_kernel_params(cudaGraphNode_t node, struct cudaKernelNodeParams *p) {
    int error;
    if (!node || !p || node->command.kind != WB_LAUNCH) return cudaErrorInvalidValue;
    const struct wb_command *c = &node->command;
    const struct wb_function *f = wb_get_function(c->launch.func, &error);
    if (!f) return error;
    free(node->param_pointers);
    node->param_pointers = calloc(f->info.nparams + 1, sizeof *node->param_pointers);
    for (uint32_t i = 0; node->param_pointers && i < f->info.nparams; i++)
        node->param_pointers[i] = c->launch.params + f->params[i].offset;
    *p = (struct cudaKernelNodeParams){.func = (void *)c->launch.func,
                                       .gridDim = c->launch.grid,
                                       .blockDim = c->launch.block,
                                       .sharedMemBytes = (unsigned)c->launch.shared,
                                       .kernelParams = node->param_pointers};
    return 0;
}

cudaError_t cudaGraphAddKernelNode(cudaGraphNode_t *out, cudaGraph_t g, const cudaGraphNode_t *deps,
                                   size_t ndeps, const struct cudaKernelNodeParams *p) {
    uint8_t params[WB_PARAM_BYTES];
    struct wb_command c;
    int error = make_kernel_command(p, params, &c);
    return wb_return(error ? error : add_command_node(out, g, deps, ndeps, &c));
}
cudaError_t cudaGraphKernelNodeSetParams(cudaGraphNode_t node,
                                         const struct cudaKernelNodeParams *p) {
    return wb_return(set_kernel_params(node, p));
}
cudaError_t cudaGraphKernelNodeGetParams(cudaGraphNode_t node, struct cudaKernelNodeParams *p) {
    return wb_return(get_kernel_params(node, p));
}
cudaError_t cudaGraphExecKernelNodeSetParams(cudaGraphExec_t x, cudaGraphNode_t node,
                                             const struct cudaKernelNodeParams *p) {
    return wb_return(set_kernel_params(exec_node(x, node), p));
}

/* Of a launch's attributes, a node stores only the cooperative flag; others are hints. */
cudaError_t cudaGraphKernelNodeSetAttribute(cudaGraphNode_t node, cudaLaunchAttributeID id,
                                            const cudaLaunchAttributeValue *value) {
    if (!node || !value || node->command.kind != WB_LAUNCH) return wb_return(cudaErrorInvalidValue);
    if (id == cudaLaunchAttributeCooperative) node->command.launch.cooperative = value->cooperative;
    else if (id != cudaLaunchAttributePriority && id != cudaLaunchAttributeAccessPolicyWindow)
        return wb_unsupported("this attribute of a kernel node");
    return cudaSuccess;
}
cudaError_t cudaGraphKernelNodeGetAttribute(cudaGraphNode_t node, cudaLaunchAttributeID id,
                                            cudaLaunchAttributeValue *value) {
    if (!node || !value || node->command.kind != WB_LAUNCH) return wb_return(cudaErrorInvalidValue);
    memset(value, 0, sizeof *value);
    if (id == cudaLaunchAttributeCooperative) value->cooperative = node->command.launch.cooperative;
    return cudaSuccess;
}
cudaError_t cudaGraphKernelNodeCopyAttributes(cudaGraphNode_t to, cudaGraphNode_t from) {
    if (!to || !from || to->command.kind != WB_LAUNCH || from->command.kind != WB_LAUNCH)
        return wb_return(cudaErrorInvalidValue);
    to->command.launch.cooperative = from->command.launch.cooperative;
    return cudaSuccess;
}

/* ---- copies ---- */

static struct wb_command make_linear_copy(void *to, const void *from, size_t n,
                                          enum cudaMemcpyKind kind) {
    return (struct wb_command){.kind = WB_COPY,
                               .copy = {.to = to,
                                        .from = from,
                                        .to_pitch = n,
                                        .from_pitch = n,
                                        .width = n,
                                        .rows = 1,
                                        .kind = kind,
                                        .async = true}};
}

static int make_symbol_copy(const void *symbol, void *host, const void *source, size_t n,
                            size_t offset, enum cudaMemcpyKind kind, struct wb_command *c) {
    uint64_t address, bytes;
    int error = wb_get_symbol(symbol, &address, &bytes);
    if (error) return error;
    if (offset > bytes || n > bytes - offset) return cudaErrorInvalidValue;
    void *device_address = (void *)(address + offset);
    *c = make_linear_copy(host ? host : device_address, host ? device_address : source, n, kind);
    return 0;
}

static int set_linear_copy(cudaGraphNode_t node, void *to, const void *from, size_t n,
                           enum cudaMemcpyKind kind) {
    struct wb_command c = make_linear_copy(to, from, n, kind);
    return wb_graph_replace(node, &c);
}
static int set_copy(cudaGraphNode_t node, const struct cudaMemcpy3DParms *p) {
    struct wb_command c;
    int error = wb_make_copy_command(p, true, &c);
    return error ? error : wb_graph_replace(node, &c);
}

static int get_copy(cudaGraphNode_t node, struct cudaMemcpy3DParms *p) {
    if (!node || !p || node->command.kind != WB_COPY) return cudaErrorInvalidValue;
    const struct wb_command *c = &node->command;
    size_t to_rows =
        c->copy.to_slice && c->copy.to_pitch ? c->copy.to_slice / c->copy.to_pitch : c->copy.rows;
    size_t from_rows = c->copy.from_slice && c->copy.from_pitch
                           ? c->copy.from_slice / c->copy.from_pitch
                           : c->copy.rows;
    *p = (struct cudaMemcpy3DParms){
        .srcPtr = {(void *)c->copy.from, c->copy.from_pitch, c->copy.width, from_rows},
        .dstPtr = {c->copy.to, c->copy.to_pitch, c->copy.width, to_rows},
        .extent = {c->copy.width, c->copy.rows, c->copy.depth ? c->copy.depth : 1},
        .kind = c->copy.kind};
    return 0;
}

cudaError_t cudaGraphAddMemcpyNode(cudaGraphNode_t *out, cudaGraph_t g, const cudaGraphNode_t *deps,
                                   size_t ndeps, const struct cudaMemcpy3DParms *p) {
    struct wb_command c;
    int error = wb_make_copy_command(p, true, &c);
    return wb_return(error ? error : add_command_node(out, g, deps, ndeps, &c));
}
cudaError_t cudaGraphAddMemcpyNode1D(cudaGraphNode_t *out, cudaGraph_t g,
                                     const cudaGraphNode_t *deps, size_t ndeps, void *to,
                                     const void *from, size_t n, enum cudaMemcpyKind kind) {
    struct wb_command c = make_linear_copy(to, from, n, kind);
    return wb_return(add_command_node(out, g, deps, ndeps, &c));
}
cudaError_t cudaGraphAddMemcpyNodeToSymbol(cudaGraphNode_t *out, cudaGraph_t g,
                                           const cudaGraphNode_t *deps, size_t ndeps,
                                           const void *symbol, const void *from, size_t n,
                                           size_t offset, enum cudaMemcpyKind kind) {
    struct wb_command c;
    int error = make_symbol_copy(symbol, NULL, from, n, offset, kind, &c);
    return wb_return(error ? error : add_command_node(out, g, deps, ndeps, &c));
}
cudaError_t cudaGraphAddMemcpyNodeFromSymbol(cudaGraphNode_t *out, cudaGraph_t g,
                                             const cudaGraphNode_t *deps, size_t ndeps, void *to,
                                             const void *symbol, size_t n, size_t offset,
                                             enum cudaMemcpyKind kind) {
    struct wb_command c;
    int error =
        to ? make_symbol_copy(symbol, to, NULL, n, offset, kind, &c) : cudaErrorInvalidValue;
    return wb_return(error ? error : add_command_node(out, g, deps, ndeps, &c));
}

cudaError_t cudaGraphMemcpyNodeSetParams(cudaGraphNode_t node, const struct cudaMemcpy3DParms *p) {
    return wb_return(set_copy(node, p));
}
cudaError_t cudaGraphMemcpyNodeGetParams(cudaGraphNode_t node, struct cudaMemcpy3DParms *p) {
    return wb_return(get_copy(node, p));
}
cudaError_t cudaGraphExecMemcpyNodeSetParams(cudaGraphExec_t x, cudaGraphNode_t node,
                                             const struct cudaMemcpy3DParms *p) {
    return wb_return(set_copy(exec_node(x, node), p));
}
cudaError_t cudaGraphMemcpyNodeSetParams1D(cudaGraphNode_t node, void *to, const void *from,
                                           size_t n, enum cudaMemcpyKind kind) {
    return wb_return(set_linear_copy(node, to, from, n, kind));
}
cudaError_t cudaGraphExecMemcpyNodeSetParams1D(cudaGraphExec_t x, cudaGraphNode_t node, void *to,
                                               const void *from, size_t n,
                                               enum cudaMemcpyKind kind) {
    return wb_return(set_linear_copy(exec_node(x, node), to, from, n, kind));
}

static int set_to_symbol(cudaGraphNode_t node, const void *symbol, const void *from, size_t n,
                         size_t offset, enum cudaMemcpyKind kind) {
    struct wb_command c;
    int error = make_symbol_copy(symbol, NULL, from, n, offset, kind, &c);
    return error ? error : wb_graph_replace(node, &c);
}
static int set_from_symbol(cudaGraphNode_t node, void *to, const void *symbol, size_t n,
                           size_t offset, enum cudaMemcpyKind kind) {
    struct wb_command c;
    int error =
        to ? make_symbol_copy(symbol, to, NULL, n, offset, kind, &c) : cudaErrorInvalidValue;
    return error ? error : wb_graph_replace(node, &c);
}
cudaError_t cudaGraphMemcpyNodeSetParamsToSymbol(cudaGraphNode_t node, const void *symbol,
                                                 const void *from, size_t n, size_t offset,
                                                 enum cudaMemcpyKind kind) {
    return wb_return(set_to_symbol(node, symbol, from, n, offset, kind));
}
cudaError_t cudaGraphMemcpyNodeSetParamsFromSymbol(cudaGraphNode_t node, void *to,
                                                   const void *symbol, size_t n, size_t offset,
                                                   enum cudaMemcpyKind kind) {
    return wb_return(set_from_symbol(node, to, symbol, n, offset, kind));
}
cudaError_t cudaGraphExecMemcpyNodeSetParamsToSymbol(cudaGraphExec_t x, cudaGraphNode_t node,
                                                     const void *symbol, const void *from, size_t n,
                                                     size_t offset, enum cudaMemcpyKind kind) {
    return wb_return(set_to_symbol(exec_node(x, node), symbol, from, n, offset, kind));
}
cudaError_t cudaGraphExecMemcpyNodeSetParamsFromSymbol(cudaGraphExec_t x, cudaGraphNode_t node,
                                                       void *to, const void *symbol, size_t n,
                                                       size_t offset, enum cudaMemcpyKind kind) {
    return wb_return(set_from_symbol(exec_node(x, node), to, symbol, n, offset, kind));
}

/* ---- fills ---- */

static int make_fill_command(const struct cudaMemsetParams *p, struct wb_command *c) {
    if (!p || (p->elementSize != 1 && p->elementSize != 2 && p->elementSize != 4))
        return cudaErrorInvalidValue;
    size_t pitch = p->height > 1 ? p->pitch : p->width * p->elementSize;
    *c = (struct wb_command){
        .kind = WB_FILL, .fill = {p->dst, pitch, p->width, p->height, p->value, p->elementSize}};
    return 0;
}

static int set_fill(cudaGraphNode_t node, const struct cudaMemsetParams *p) {
    struct wb_command c;
    int error = make_fill_command(p, &c);
    return error ? error : wb_graph_replace(node, &c);
}

cudaError_t cudaGraphAddMemsetNode(cudaGraphNode_t *out, cudaGraph_t g, const cudaGraphNode_t *deps,
                                   size_t ndeps, const struct cudaMemsetParams *p) {
    struct wb_command c;
    int error = make_fill_command(p, &c);
    return wb_return(error ? error : add_command_node(out, g, deps, ndeps, &c));
}
cudaError_t cudaGraphMemsetNodeSetParams(cudaGraphNode_t node, const struct cudaMemsetParams *p) {
    return wb_return(set_fill(node, p));
}
cudaError_t cudaGraphExecMemsetNodeSetParams(cudaGraphExec_t x, cudaGraphNode_t node,
                                             const struct cudaMemsetParams *p) {
    return wb_return(set_fill(exec_node(x, node), p));
}
cudaError_t cudaGraphMemsetNodeGetParams(cudaGraphNode_t node, struct cudaMemsetParams *p) {
    if (!node || !p || node->command.kind != WB_FILL) return wb_return(cudaErrorInvalidValue);
    const struct wb_command *c = &node->command;
    *p = (struct cudaMemsetParams){.dst = c->fill.to,
                                   .pitch = c->fill.pitch,
                                   .value = c->fill.value,
                                   .elementSize = c->fill.unit,
                                   .width = c->fill.width,
                                   .height = c->fill.rows};
    return cudaSuccess;
}

/* ---- host functions, events, child graphs, empty nodes ---- */

static int set_host(cudaGraphNode_t node, const struct cudaHostNodeParams *p) {
    if (!p || !p->fn) return cudaErrorInvalidValue;
    struct wb_command c = {.kind = WB_HOST, .host = {p->fn, p->userData}};
    return wb_graph_replace(node, &c);
}

cudaError_t cudaGraphAddHostNode(cudaGraphNode_t *out, cudaGraph_t g, const cudaGraphNode_t *deps,
                                 size_t ndeps, const struct cudaHostNodeParams *p) {
    if (!p || !p->fn) return wb_return(cudaErrorInvalidValue);
    struct wb_command c = {.kind = WB_HOST, .host = {p->fn, p->userData}};
    return wb_return(add_command_node(out, g, deps, ndeps, &c));
}
cudaError_t cudaGraphHostNodeSetParams(cudaGraphNode_t node, const struct cudaHostNodeParams *p) {
    return wb_return(set_host(node, p));
}
cudaError_t cudaGraphExecHostNodeSetParams(cudaGraphExec_t x, cudaGraphNode_t node,
                                           const struct cudaHostNodeParams *p) {
    return wb_return(set_host(exec_node(x, node), p));
}
cudaError_t cudaGraphHostNodeGetParams(cudaGraphNode_t node, struct cudaHostNodeParams *p) {
    if (!node || !p || node->command.kind != WB_HOST) return wb_return(cudaErrorInvalidValue);
    *p = (struct cudaHostNodeParams){node->command.host.function, node->command.host.data};
    return cudaSuccess;
}

cudaError_t cudaGraphAddEmptyNode(cudaGraphNode_t *out, cudaGraph_t g, const cudaGraphNode_t *deps,
                                  size_t ndeps) {
    struct wb_command c = {.kind = WB_EMPTY};
    return wb_return(add_command_node(out, g, deps, ndeps, &c));
}

static int add_event(cudaGraphNode_t *out, cudaGraph_t g, const cudaGraphNode_t *deps, size_t ndeps,
                     enum wb_command_kind kind, cudaEvent_t e) {
    struct wb_command c = {.kind = kind, .event = e};
    return e ? add_command_node(out, g, deps, ndeps, &c) : cudaErrorInvalidValue;
}
static int set_event(cudaGraphNode_t node, enum wb_command_kind kind, cudaEvent_t e) {
    struct wb_command c = {.kind = kind, .event = e};
    return e ? wb_graph_replace(node, &c) : cudaErrorInvalidValue;
}
static int get_event(cudaGraphNode_t node, enum wb_command_kind kind, cudaEvent_t *e) {
    if (!node || !e || node->command.kind != kind) return cudaErrorInvalidValue;
    *e = node->command.event;
    return 0;
}

cudaError_t cudaGraphAddEventRecordNode(cudaGraphNode_t *out, cudaGraph_t g,
                                        const cudaGraphNode_t *deps, size_t ndeps, cudaEvent_t e) {
    return wb_return(add_event(out, g, deps, ndeps, WB_RECORD, e));
}
cudaError_t cudaGraphAddEventWaitNode(cudaGraphNode_t *out, cudaGraph_t g,
                                      const cudaGraphNode_t *deps, size_t ndeps, cudaEvent_t e) {
    return wb_return(add_event(out, g, deps, ndeps, WB_WAIT, e));
}
cudaError_t cudaGraphEventRecordNodeSetEvent(cudaGraphNode_t node, cudaEvent_t e) {
    return wb_return(set_event(node, WB_RECORD, e));
}
cudaError_t cudaGraphEventWaitNodeSetEvent(cudaGraphNode_t node, cudaEvent_t e) {
    return wb_return(set_event(node, WB_WAIT, e));
}
cudaError_t cudaGraphEventRecordNodeGetEvent(cudaGraphNode_t node, cudaEvent_t *e) {
    return wb_return(get_event(node, WB_RECORD, e));
}
cudaError_t cudaGraphEventWaitNodeGetEvent(cudaGraphNode_t node, cudaEvent_t *e) {
    return wb_return(get_event(node, WB_WAIT, e));
}
cudaError_t cudaGraphExecEventRecordNodeSetEvent(cudaGraphExec_t x, cudaGraphNode_t node,
                                                 cudaEvent_t e) {
    return wb_return(set_event(exec_node(x, node), WB_RECORD, e));
}
cudaError_t cudaGraphExecEventWaitNodeSetEvent(cudaGraphExec_t x, cudaGraphNode_t node,
                                               cudaEvent_t e) {
    return wb_return(set_event(exec_node(x, node), WB_WAIT, e));
}

cudaError_t cudaGraphAddChildGraphNode(cudaGraphNode_t *out, cudaGraph_t g,
                                       const cudaGraphNode_t *deps, size_t ndeps,
                                       cudaGraph_t child) {
    if (!child) return wb_return(cudaErrorInvalidValue);
    struct wb_command c = {.kind = WB_CHILD, .child = wb_graph_clone(child)};
    return wb_return(add_command_node(out, g, deps, ndeps, &c));
}
cudaError_t cudaGraphChildGraphNodeGetGraph(cudaGraphNode_t node, cudaGraph_t *g) {
    if (!node || !g || node->command.kind != WB_CHILD) return wb_return(cudaErrorInvalidValue);
    *g = node->command.child;
    return cudaSuccess;
}
static int set_child(cudaGraphNode_t node, cudaGraph_t child) {
    if (!node || !child || node->command.kind != WB_CHILD) return cudaErrorInvalidValue;
    if (wb_graph_count_nodes(child) != wb_graph_count_nodes(node->command.child))
        return wb_refuse(cudaErrorInvalidValue, "the new child graph has other nodes");
    struct wb_command c = {.kind = WB_CHILD, .child = wb_graph_clone(child)};
    if (wb_graph_sort(c.child)) return wb_graph_replace(node, &c);
    cudaGraphDestroy(c.child);
    return cudaErrorInvalidValue;
}
cudaError_t cudaGraphExecChildGraphNodeSetParams(cudaGraphExec_t x, cudaGraphNode_t node,
                                                 cudaGraph_t child) {
    return wb_return(set_child(exec_node(x, node), child));
}

/* ---- memory ---- */

static int add_alloc(cudaGraphNode_t *out, cudaGraph_t g, const cudaGraphNode_t *deps, size_t ndeps,
                     size_t bytes, void **p) {
    if (!bytes || !g || !out) return cudaErrorInvalidValue;
    int error = wb_graph_memory_new(p, bytes);
    struct wb_command c = {.kind = WB_ALLOC, .memory = {.p = *p, .bytes = bytes}};
    return error ? error : add_command_node(out, g, deps, ndeps, &c);
}
static int add_free(cudaGraphNode_t *out, cudaGraph_t g, const cudaGraphNode_t *deps, size_t ndeps,
                    void *p) {
    struct wb_command c = {.kind = WB_FREE, .memory = {.p = p}};
    return p ? add_command_node(out, g, deps, ndeps, &c) : cudaErrorInvalidValue;
}

cudaError_t cudaGraphAddMemAllocNode(cudaGraphNode_t *out, cudaGraph_t g,
                                     const cudaGraphNode_t *deps, size_t ndeps,
                                     struct cudaMemAllocNodeParams *p) {
    return wb_return(p ? add_alloc(out, g, deps, ndeps, p->bytesize, &p->dptr)
                       : cudaErrorInvalidValue);
}
cudaError_t cudaGraphAddMemFreeNode(cudaGraphNode_t *out, cudaGraph_t g,
                                    const cudaGraphNode_t *deps, size_t ndeps, void *p) {
    return wb_return(add_free(out, g, deps, ndeps, p));
}
cudaError_t cudaGraphMemAllocNodeGetParams(cudaGraphNode_t node, struct cudaMemAllocNodeParams *p) {
    if (!node || !p || node->command.kind != WB_ALLOC) return wb_return(cudaErrorInvalidValue);
    memset(p, 0, sizeof *p);
    p->poolProps.allocType = cudaMemAllocationTypePinned;
    p->poolProps.location.type = cudaMemLocationTypeDevice;
    p->bytesize = node->command.memory.bytes;
    p->dptr = node->command.memory.p;
    return cudaSuccess;
}
cudaError_t cudaGraphMemFreeNodeGetParams(cudaGraphNode_t node, void *out) {
    if (!node || !out || node->command.kind != WB_FREE) return wb_return(cudaErrorInvalidValue);
    *(void **)out = node->command.memory.p;
    return cudaSuccess;
}

/* ---- calls for all kinds of nodes ---- */

#if CUDART_VERSION >= 12020

static struct cudaKernelNodeParams kernel_params_v1(const struct cudaGraphNodeParams *p) {
    return (struct cudaKernelNodeParams){.func = p->kernel.func,
                                         .gridDim = p->kernel.gridDim,
                                         .blockDim = p->kernel.blockDim,
                                         .sharedMemBytes = p->kernel.sharedMemBytes,
                                         .kernelParams = p->kernel.kernelParams,
                                         .extra = p->kernel.extra};
}
static struct cudaMemsetParams memset_params_v1(const struct cudaGraphNodeParams *p) {
    return (struct cudaMemsetParams){p->memset.dst,         p->memset.pitch, p->memset.value,
                                     p->memset.elementSize, p->memset.width, p->memset.height};
}

#if CUDART_VERSION >= 12080
static int add_conditional(cudaGraphNode_t *out, cudaGraph_t g, const cudaGraphNode_t *deps,
                           size_t n, struct cudaConditionalNodeParams *p) {
    struct wb_command c;
    int error = g && out ? wb_graph_conditional_new(p, &c) : cudaErrorInvalidValue;
    return error ? error : add_command_node(out, g, deps, n, &c);
}
#endif

static int add_node(cudaGraphNode_t *out, cudaGraph_t g, const cudaGraphNode_t *deps, size_t n,
                    struct cudaGraphNodeParams *p) {
    if (!p) return cudaErrorInvalidValue;
    struct cudaKernelNodeParams kernel = kernel_params_v1(p);
    struct cudaMemsetParams fill = memset_params_v1(p);
    struct cudaHostNodeParams host = {p->host.fn, p->host.userData};
    switch ((int)p->type) {
    case cudaGraphNodeTypeKernel: return cudaGraphAddKernelNode(out, g, deps, n, &kernel);
    case cudaGraphNodeTypeMemcpy:
        return cudaGraphAddMemcpyNode(out, g, deps, n, &p->memcpy.copyParams);
    case cudaGraphNodeTypeMemset: return cudaGraphAddMemsetNode(out, g, deps, n, &fill);
    case cudaGraphNodeTypeHost: return cudaGraphAddHostNode(out, g, deps, n, &host);
    case cudaGraphNodeTypeGraph: return cudaGraphAddChildGraphNode(out, g, deps, n, p->graph.graph);
    case cudaGraphNodeTypeEmpty: return cudaGraphAddEmptyNode(out, g, deps, n);
    case cudaGraphNodeTypeWaitEvent: return add_event(out, g, deps, n, WB_WAIT, p->eventWait.event);
    case cudaGraphNodeTypeEventRecord:
        return add_event(out, g, deps, n, WB_RECORD, p->eventRecord.event);
    case cudaGraphNodeTypeMemAlloc:
        return add_alloc(out, g, deps, n, p->alloc.bytesize, &p->alloc.dptr);
    case cudaGraphNodeTypeMemFree: return add_free(out, g, deps, n, p->free.dptr);
#if CUDART_VERSION >= 12080
    case cudaGraphNodeTypeConditional: return add_conditional(out, g, deps, n, &p->conditional);
#endif
    }
    return wb_unsupported("a graph node of this type");
}

static int set_node(cudaGraphNode_t node, const struct cudaGraphNodeParams *p) {
    if (!node || !p) return cudaErrorInvalidValue;
    struct cudaKernelNodeParams kernel = kernel_params_v1(p);
    struct cudaMemsetParams fill = memset_params_v1(p);
    struct cudaHostNodeParams host = {p->host.fn, p->host.userData};
    switch ((int)p->type) {
    case cudaGraphNodeTypeKernel: return set_kernel_params(node, &kernel);
    case cudaGraphNodeTypeMemcpy: return set_copy(node, &p->memcpy.copyParams);
    case cudaGraphNodeTypeMemset: return set_fill(node, &fill);
    case cudaGraphNodeTypeHost: return set_host(node, &host);
    case cudaGraphNodeTypeGraph: return set_child(node, p->graph.graph);
    case cudaGraphNodeTypeWaitEvent: return set_event(node, WB_WAIT, p->eventWait.event);
    case cudaGraphNodeTypeEventRecord: return set_event(node, WB_RECORD, p->eventRecord.event);
    }
    return cudaErrorInvalidValue;
}

cudaError_t cudaGraphNodeSetParams(cudaGraphNode_t node, struct cudaGraphNodeParams *p) {
    return wb_return(set_node(node, p));
}
cudaError_t cudaGraphExecNodeSetParams(cudaGraphExec_t x, cudaGraphNode_t node,
                                       struct cudaGraphNodeParams *p) {
    return wb_return(set_node(exec_node(x, node), p));
}

#if CUDART_VERSION >= 13000
cudaError_t cudaGraphAddNode(cudaGraphNode_t *out, cudaGraph_t g, const cudaGraphNode_t *deps,
                             const cudaGraphEdgeData *data, size_t n,
                             struct cudaGraphNodeParams *p) {
    (void)data; /* edges that allow a kernel to start early, which is optional */
    return wb_return(add_node(out, g, deps, n, p));
}
#else
cudaError_t cudaGraphAddNode(cudaGraphNode_t *out, cudaGraph_t g, const cudaGraphNode_t *deps,
                             size_t n, struct cudaGraphNodeParams *p) {
    return wb_return(add_node(out, g, deps, n, p));
}
#if CUDART_VERSION >= 12030
cudaError_t cudaGraphAddNode_v2(cudaGraphNode_t *out, cudaGraph_t g, const cudaGraphNode_t *deps,
                                const cudaGraphEdgeData *data, size_t n,
                                struct cudaGraphNodeParams *p) {
    (void)data;
    return wb_return(add_node(out, g, deps, n, p));
}
#endif
#endif
#endif

cudaError_t cudaGraphNodeSetEnabled(cudaGraphExec_t x, cudaGraphNode_t node, unsigned enabled) {
    cudaGraphNode_t copy = exec_node(x, node);
    if (copy) copy->disabled = !enabled;
    return wb_return(copy ? 0 : cudaErrorInvalidValue);
}

cudaError_t cudaGraphNodeGetEnabled(cudaGraphExec_t x, cudaGraphNode_t node, unsigned *enabled) {
    cudaGraphNode_t copy = exec_node(x, node);
    if (copy) *enabled = !copy->disabled;
    return wb_return(copy ? 0 : cudaErrorInvalidValue);
}
