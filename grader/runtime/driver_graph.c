/* driver_graph.c — the driver API's nodes of graphs. Graphs and nodes are the runtime's; only the
 * structures of their parameters differ. */
#include "grader/runtime/driver.h"

/* ---- kernels ---- */

static CUfunction function_of(const CUDA_KERNEL_NODE_PARAMS *p) {
#if CUDA_VERSION >= 12000
    return p->func ? p->func : (CUfunction)p->kern;
#else
    return p->func;
#endif
}

static struct cudaKernelNodeParams to_kernel(const CUDA_KERNEL_NODE_PARAMS *p) {
    return (struct cudaKernelNodeParams){.func = function_of(p),
                                         .gridDim = {p->gridDimX, p->gridDimY, p->gridDimZ},
                                         .blockDim = {p->blockDimX, p->blockDimY, p->blockDimZ},
                                         .sharedMemBytes = p->sharedMemBytes,
                                         .kernelParams = p->kernelParams,
                                         .extra = p->extra};
}

static int add_kernel(CUgraphNode *out, CUgraph g, const CUgraphNode *deps, size_t n,
                      const CUDA_KERNEL_NODE_PARAMS *p) {
    if (!p) return cudaErrorInvalidValue;
    struct cudaKernelNodeParams kernel = to_kernel(p);
    return cudaGraphAddKernelNode(out, g, deps, n, &kernel);
}
static int get_kernel(CUgraphNode node, CUDA_KERNEL_NODE_PARAMS *out) {
    struct cudaKernelNodeParams p;
    int error = out ? (int)cudaGraphKernelNodeGetParams(node, &p) : cudaErrorInvalidValue;
    if (error) return error;
    *out = (CUDA_KERNEL_NODE_PARAMS){.func = p.func,
                                     .gridDimX = p.gridDim.x,
                                     .gridDimY = p.gridDim.y,
                                     .gridDimZ = p.gridDim.z,
                                     .blockDimX = p.blockDim.x,
                                     .blockDimY = p.blockDim.y,
                                     .blockDimZ = p.blockDim.z,
                                     .sharedMemBytes = p.sharedMemBytes,
                                     .kernelParams = p.kernelParams,
                                     .extra = p.extra};
    return 0;
}
/* `x`: of the executable graph if there is one, otherwise of the node itself. */
static int set_kernel(CUgraphExec x, CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS *p) {
    if (!p) return cudaErrorInvalidValue;
    struct cudaKernelNodeParams kernel = to_kernel(p);
    return x ? cudaGraphExecKernelNodeSetParams(x, node, &kernel)
             : cudaGraphKernelNodeSetParams(node, &kernel);
}

CUresult cuGraphAddKernelNode(CUgraphNode *out, CUgraph g, const CUgraphNode *deps, size_t n,
                              const CUDA_KERNEL_NODE_PARAMS *p) {
    return WITH_CONTEXT(add_kernel(out, g, deps, n, p));
}
CUresult cuGraphKernelNodeGetParams(CUgraphNode node, CUDA_KERNEL_NODE_PARAMS *out) {
    return WITH_DRIVER(get_kernel(node, out));
}
CUresult cuGraphKernelNodeSetParams(CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS *p) {
    return WITH_DRIVER(set_kernel(NULL, node, p));
}
CUresult cuGraphExecKernelNodeSetParams(CUgraphExec x, CUgraphNode node,
                                        const CUDA_KERNEL_NODE_PARAMS *p) {
    return x ? WITH_DRIVER(set_kernel(x, node, p)) : CUDA_ERROR_INVALID_VALUE;
}

/* ---- copies and fills ---- */

static int add_copy(CUgraphNode *out, CUgraph g, const CUgraphNode *deps, size_t n,
                    const CUDA_MEMCPY3D *c) {
    struct cudaMemcpy3DParms p;
    int error = wb_driver_copy_params(c, &p);
    return error ? error : (int)cudaGraphAddMemcpyNode(out, g, deps, n, &p);
}
static int set_copy(CUgraphExec x, CUgraphNode node, const CUDA_MEMCPY3D *c) {
    struct cudaMemcpy3DParms p;
    int error = wb_driver_copy_params(c, &p);
    if (error) return error;
    return x ? cudaGraphExecMemcpyNodeSetParams(x, node, &p)
             : cudaGraphMemcpyNodeSetParams(node, &p);
}

static struct cudaMemsetParams to_fill(const CUDA_MEMSET_NODE_PARAMS *p) {
    return (struct cudaMemsetParams){.dst = (void *)p->dst,
                                     .pitch = p->pitch,
                                     .value = p->value,
                                     .elementSize = p->elementSize,
                                     .width = p->width,
                                     .height = p->height};
}
static int add_fill(CUgraphNode *out, CUgraph g, const CUgraphNode *deps, size_t n,
                    const CUDA_MEMSET_NODE_PARAMS *p) {
    if (!p) return cudaErrorInvalidValue;
    struct cudaMemsetParams fill = to_fill(p);
    return cudaGraphAddMemsetNode(out, g, deps, n, &fill);
}
static int set_fill(CUgraphExec x, CUgraphNode node, const CUDA_MEMSET_NODE_PARAMS *p) {
    if (!p) return cudaErrorInvalidValue;
    struct cudaMemsetParams fill = to_fill(p);
    return x ? cudaGraphExecMemsetNodeSetParams(x, node, &fill)
             : cudaGraphMemsetNodeSetParams(node, &fill);
}
static int get_fill(CUgraphNode node, CUDA_MEMSET_NODE_PARAMS *out) {
    struct cudaMemsetParams p;
    int error = out ? (int)cudaGraphMemsetNodeGetParams(node, &p) : cudaErrorInvalidValue;
    if (error) return error;
    *out = (CUDA_MEMSET_NODE_PARAMS){.dst = (CUdeviceptr)p.dst,
                                     .pitch = p.pitch,
                                     .value = p.value,
                                     .elementSize = p.elementSize,
                                     .width = p.width,
                                     .height = p.height};
    return 0;
}

CUresult cuGraphAddMemcpyNode(CUgraphNode *out, CUgraph g, const CUgraphNode *deps, size_t n,
                              const CUDA_MEMCPY3D *c, CUcontext context) {
    (void)context; /* addresses tell the device */
    return WITH_DRIVER(add_copy(out, g, deps, n, c));
}
CUresult cuGraphMemcpyNodeSetParams(CUgraphNode node, const CUDA_MEMCPY3D *c) {
    return WITH_DRIVER(set_copy(NULL, node, c));
}
CUresult cuGraphExecMemcpyNodeSetParams(CUgraphExec x, CUgraphNode node, const CUDA_MEMCPY3D *c,
                                        CUcontext context) {
    (void)context;
    return x ? WITH_DRIVER(set_copy(x, node, c)) : CUDA_ERROR_INVALID_VALUE;
}
CUresult cuGraphAddMemsetNode(CUgraphNode *out, CUgraph g, const CUgraphNode *deps, size_t n,
                              const CUDA_MEMSET_NODE_PARAMS *p, CUcontext context) {
    (void)context;
    return WITH_DRIVER(add_fill(out, g, deps, n, p));
}
CUresult cuGraphMemsetNodeGetParams(CUgraphNode node, CUDA_MEMSET_NODE_PARAMS *out) {
    return WITH_DRIVER(get_fill(node, out));
}
CUresult cuGraphMemsetNodeSetParams(CUgraphNode node, const CUDA_MEMSET_NODE_PARAMS *p) {
    return WITH_DRIVER(set_fill(NULL, node, p));
}
CUresult cuGraphExecMemsetNodeSetParams(CUgraphExec x, CUgraphNode node,
                                        const CUDA_MEMSET_NODE_PARAMS *p, CUcontext context) {
    (void)context;
    return x ? WITH_DRIVER(set_fill(x, node, p)) : CUDA_ERROR_INVALID_VALUE;
}

/* ---- host functions: both interfaces have the same structure ---- */

CUresult cuGraphAddHostNode(CUgraphNode *out, CUgraph g, const CUgraphNode *deps, size_t n,
                            const CUDA_HOST_NODE_PARAMS *p) {
    return WITH_DRIVER(cudaGraphAddHostNode(out, g, deps, n, (const struct cudaHostNodeParams *)p));
}
CUresult cuGraphHostNodeGetParams(CUgraphNode node, CUDA_HOST_NODE_PARAMS *out) {
    return WITH_DRIVER(cudaGraphHostNodeGetParams(node, (struct cudaHostNodeParams *)out));
}
CUresult cuGraphHostNodeSetParams(CUgraphNode node, const CUDA_HOST_NODE_PARAMS *p) {
    return WITH_DRIVER(cudaGraphHostNodeSetParams(node, (const struct cudaHostNodeParams *)p));
}
CUresult cuGraphExecHostNodeSetParams(CUgraphExec x, CUgraphNode node,
                                      const CUDA_HOST_NODE_PARAMS *p) {
    return WITH_DRIVER(
        cudaGraphExecHostNodeSetParams(x, node, (const struct cudaHostNodeParams *)p));
}

/* ---- other nodes, and the graph's shape ---- */

CUresult cuGraphAddEmptyNode(CUgraphNode *out, CUgraph g, const CUgraphNode *deps, size_t n) {
    return WITH_DRIVER(cudaGraphAddEmptyNode(out, g, deps, n));
}
CUresult cuGraphAddChildGraphNode(CUgraphNode *out, CUgraph g, const CUgraphNode *deps, size_t n,
                                  CUgraph child) {
    return WITH_DRIVER(cudaGraphAddChildGraphNode(out, g, deps, n, child));
}
CUresult cuGraphChildGraphNodeGetGraph(CUgraphNode node, CUgraph *out) {
    return WITH_DRIVER(cudaGraphChildGraphNodeGetGraph(node, out));
}
CUresult cuGraphAddEventRecordNode(CUgraphNode *out, CUgraph g, const CUgraphNode *deps, size_t n,
                                   CUevent e) {
    return WITH_DRIVER(cudaGraphAddEventRecordNode(out, g, deps, n, e));
}
CUresult cuGraphAddEventWaitNode(CUgraphNode *out, CUgraph g, const CUgraphNode *deps, size_t n,
                                 CUevent e) {
    return WITH_DRIVER(cudaGraphAddEventWaitNode(out, g, deps, n, e));
}
CUresult cuGraphGetNodes(CUgraph g, CUgraphNode *nodes, size_t *n) {
    return WITH_DRIVER(cudaGraphGetNodes(g, nodes, n));
}
CUresult cuGraphGetRootNodes(CUgraph g, CUgraphNode *nodes, size_t *n) {
    return WITH_DRIVER(cudaGraphGetRootNodes(g, nodes, n));
}
CUresult cuGraphNodeGetType(CUgraphNode node, CUgraphNodeType *type) {
    return WITH_DRIVER(cudaGraphNodeGetType(node, (enum cudaGraphNodeType *)type));
}
CUresult cuGraphClone(CUgraph *out, CUgraph g) { return WITH_DRIVER(cudaGraphClone(out, g)); }
CUresult cuGraphDestroyNode(CUgraphNode node) { return WITH_DRIVER(cudaGraphDestroyNode(node)); }
CUresult cuGraphUpload(CUgraphExec x, CUstream s) { return WITH_CONTEXT(cudaGraphUpload(x, s)); }

/* ---- edges; from CUDA 13 on with data, of which ours have none ---- */

#if CUDA_VERSION >= 13000
#define WITH_DATA(type) type *data,
#define DATA            (void *)data, /* both interfaces lay it out alike */
#else
#define WITH_DATA(type)
#define DATA
#endif

CUresult cuGraphGetEdges(CUgraph g, CUgraphNode *from, CUgraphNode *to,
                         WITH_DATA(CUgraphEdgeData) size_t *n) {
    return WITH_DRIVER(cudaGraphGetEdges(g, from, to, DATA n));
}
CUresult cuGraphNodeGetDependencies(CUgraphNode node, CUgraphNode *out,
                                    WITH_DATA(CUgraphEdgeData) size_t *n) {
    return WITH_DRIVER(cudaGraphNodeGetDependencies(node, out, DATA n));
}
CUresult cuGraphNodeGetDependentNodes(CUgraphNode node, CUgraphNode *out,
                                      WITH_DATA(CUgraphEdgeData) size_t *n) {
    return WITH_DRIVER(cudaGraphNodeGetDependentNodes(node, out, DATA n));
}
CUresult cuGraphAddDependencies(CUgraph g, const CUgraphNode *from, const CUgraphNode *to,
                                WITH_DATA(const CUgraphEdgeData) size_t n) {
    return WITH_DRIVER(cudaGraphAddDependencies(g, from, to, DATA n));
}
CUresult cuGraphRemoveDependencies(CUgraph g, const CUgraphNode *from, const CUgraphNode *to,
                                   WITH_DATA(const CUgraphEdgeData) size_t n) {
    return WITH_DRIVER(cudaGraphRemoveDependencies(g, from, to, DATA n));
}
