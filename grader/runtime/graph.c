/* graph.c — graphs: commands with an order, launched as a whole. A graph is a list of nodes that own their
 * commands; an executable graph is a copy of one, its nodes in an order that respects every edge. Node
 * handles of the original name nodes of the copy by position. */
#include "grader/runtime/runtime.h"

#include <stdlib.h>
#include <string.h>

struct CUgraphNode_st {
    cudaGraph_t graph;
    struct wb_command command;
    cudaGraphNode_t *deps;
    size_t ndeps;
    cudaGraphNode_t original; /* the node this is a copy of, or NULL */
    bool disabled, done;
};

struct CUgraph_st {
    cudaGraphNode_t *nodes;
    size_t n;
};

struct CUgraphExec_st {
    cudaGraph_t graph;
    unsigned long long flags;
};

/* ---- building ---- */

static void *grown(void *array, size_t n, size_t size) {
    void *p = realloc(array, (n + 1) * size);
    if (!p) abort();
    return p;
}

static void add_dep(cudaGraphNode_t node, cudaGraphNode_t dep) {
    node->deps = grown(node->deps, node->ndeps, sizeof *node->deps);
    node->deps[node->ndeps++] = dep;
}

/* What a command points to becomes the node's own. */
static void own(struct wb_command *c) {
    if (c->kind != WB_LAUNCH) return;
    uint8_t *copy = grown(NULL, c->launch.param_bytes, 1);
    if (c->launch.param_bytes) memcpy(copy, c->launch.params, c->launch.param_bytes);
    c->launch.params = copy;
}

static cudaGraph_t clone_graph(cudaGraph_t g);

static void disown(struct wb_command *c) {
    if (c->kind == WB_LAUNCH) free(c->launch.params);
    if (c->kind == WB_CHILD) cudaGraphDestroy(c->child);
}

int wb_graph_add(cudaGraph_t g, const struct wb_command *c, cudaGraphNode_t const *deps, size_t ndeps,
                 cudaGraphNode_t *out) {
    for (size_t i = 0; i < ndeps; i++)
        if (!deps[i] || deps[i]->graph != g) return cudaErrorInvalidValue;
    cudaGraphNode_t node = calloc(1, sizeof *node);
    if (!node) return cudaErrorMemoryAllocation;
    node->graph = g;
    node->command = *c;
    own(&node->command);
    for (size_t i = 0; i < ndeps; i++) add_dep(node, deps[i]);
    g->nodes = grown(g->nodes, g->n, sizeof *g->nodes);
    g->nodes[g->n++] = node;
    if (out) *out = node;
    return 0;
}

static void free_node(cudaGraphNode_t node) {
    disown(&node->command);
    free(node->deps);
    free(node);
}

cudaError_t cudaGraphCreate(cudaGraph_t *out, unsigned flags) {
    if (!out || flags) return wb_return(cudaErrorInvalidValue);
    *out = calloc(1, sizeof **out);
    return wb_return(*out ? 0 : cudaErrorMemoryAllocation);
}

cudaError_t cudaGraphDestroy(cudaGraph_t g) {
    if (!g) return wb_return(cudaErrorInvalidValue);
    for (size_t i = 0; i < g->n; i++) free_node(g->nodes[i]);
    free(g->nodes);
    free(g);
    return cudaSuccess;
}

static cudaGraphNode_t copy_of(cudaGraph_t g, cudaGraphNode_t original) {
    for (size_t i = 0; i < g->n; i++)
        if (g->nodes[i]->original == original) return g->nodes[i];
    return NULL;
}

static cudaGraph_t clone_graph(cudaGraph_t g) {
    cudaGraph_t clone = calloc(1, sizeof *clone);
    for (size_t i = 0; clone && i < g->n; i++) {
        struct wb_command c = g->nodes[i]->command;
        if (c.kind == WB_CHILD) c.child = clone_graph(c.child);
        cudaGraphNode_t node;
        if (wb_graph_add(clone, &c, NULL, 0, &node)) abort();
        node->original = g->nodes[i];
    }
    for (size_t i = 0; clone && i < g->n; i++)
        for (size_t d = 0; d < g->nodes[i]->ndeps; d++) add_dep(clone->nodes[i], copy_of(clone, g->nodes[i]->deps[d]));
    return clone;
}

/* ---- running ---- */

static bool ready(cudaGraphNode_t node) {
    for (size_t i = 0; i < node->ndeps; i++)
        if (!node->deps[i]->done) return false;
    return !node->done;
}

/* Puts nodes into an order that respects the edges; false if they form a cycle. */
static bool sort(cudaGraph_t g) {
    cudaGraphNode_t *sorted = grown(NULL, g->n, sizeof *sorted);
    size_t n = 0, before;
    for (size_t i = 0; i < g->n; i++) g->nodes[i]->done = false;
    do {
        before = n;
        for (size_t i = 0; i < g->n; i++) {
            if (!ready(g->nodes[i])) continue;
            g->nodes[i]->done = true;
            sorted[n++] = g->nodes[i];
        }
    } while (n > before);
    bool whole = n == g->n;
    if (whole) memcpy(g->nodes, sorted, n * sizeof *sorted);
    free(sorted);
    return whole;
}

int wb_graph_run(cudaGraph_t g) {
    int error = 0;
    for (size_t i = 0; !error && i < g->n; i++)
        if (!g->nodes[i]->disabled) error = wb_run(&g->nodes[i]->command);
    return error;
}

static bool sort_all(cudaGraph_t g) {
    bool ok = sort(g);
    for (size_t i = 0; ok && i < g->n; i++)
        if (g->nodes[i]->command.kind == WB_CHILD) ok = sort_all(g->nodes[i]->command.child);
    return ok;
}

static int instantiate(cudaGraphExec_t *out, cudaGraph_t g, unsigned long long flags) {
    if (!out || !g) return cudaErrorInvalidValue;
    cudaGraphExec_t x = calloc(1, sizeof *x);
    if (!x) return cudaErrorMemoryAllocation;
    x->graph = clone_graph(g);
    x->flags = flags;
    if (!sort_all(x->graph)) {
        cudaGraphExecDestroy(x);
        return cudaErrorInvalidValue;
    }
    *out = x;
    return 0;
}

cudaError_t cudaGraphInstantiate(cudaGraphExec_t *out, cudaGraph_t g, unsigned long long flags) {
    return wb_return(instantiate(out, g, flags));
}
cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t *out, cudaGraph_t g, unsigned long long flags) {
    return wb_return(instantiate(out, g, flags));
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t x) {
    if (!x) return wb_return(cudaErrorInvalidValue);
    cudaGraphDestroy(x->graph);
    free(x);
    return cudaSuccess;
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t x, cudaStream_t s) {
    int error = x ? wb_check_stream(s) : cudaErrorInvalidValue;
    struct wb_capture *into = error ? NULL : wb_capture(s);
    if (into && into->graph) { /* captured: it becomes a child of the other graph */
        struct wb_command c = {.kind = WB_CHILD, .child = clone_graph(x->graph)};
        return wb_return(wb_issue(s, &c));
    }
    return wb_return(error ? error : wb_graph_run(x->graph));
}

cudaError_t cudaGraphUpload(cudaGraphExec_t x, cudaStream_t s) {
    return wb_return(x ? wb_check_stream(s) : cudaErrorInvalidValue);
}

cudaError_t cudaGraphExecGetFlags(cudaGraphExec_t x, unsigned long long *flags) {
    *flags = x->flags;
    return cudaSuccess;
}

/* ---- nodes by hand ---- */

static int add(cudaGraphNode_t *out, cudaGraph_t g, const cudaGraphNode_t *deps, size_t ndeps,
               const struct wb_command *c) {
    return g && out ? wb_graph_add(g, c, deps, ndeps, out) : cudaErrorInvalidValue;
}

/* `params` must hold WB_PARAMS bytes, and live as long as the command. */
static int kernel_command(const struct cudaKernelNodeParams *p, uint8_t *params, struct wb_command *c) {
    int error;
    const struct wb_function *f = p ? wb_function(p->func, &error) : NULL;
    if (!f) return p ? error : cudaErrorInvalidValue;
    if (p->extra) return cudaErrorNotSupported;
    *c = (struct wb_command){.kind = WB_LAUNCH,
                             .launch = {.func = p->func,
                                        .grid = p->gridDim,
                                        .block = p->blockDim,
                                        .shared = p->sharedMemBytes,
                                        .params = params,
                                        .param_bytes = f->info.param_bytes}};
    return wb_pack(f, p->kernelParams, params);
}

cudaError_t cudaGraphAddKernelNode(cudaGraphNode_t *out, cudaGraph_t g, const cudaGraphNode_t *deps, size_t ndeps,
                                   const struct cudaKernelNodeParams *p) {
    uint8_t params[WB_PARAMS];
    struct wb_command c;
    int error = kernel_command(p, params, &c);
    return wb_return(error ? error : add(out, g, deps, ndeps, &c));
}

/* `what` in place of a node's command; a copy of what it points to is made. */
static int replace(cudaGraphNode_t node, const struct wb_command *what) {
    if (!node || node->command.kind != what->kind) return cudaErrorInvalidValue;
    disown(&node->command);
    node->command = *what;
    own(&node->command);
    return 0;
}

cudaError_t cudaGraphKernelNodeSetParams(cudaGraphNode_t node, const struct cudaKernelNodeParams *p) {
    uint8_t params[WB_PARAMS];
    struct wb_command c;
    int error = kernel_command(p, params, &c);
    return wb_return(error ? error : replace(node, &c));
}

cudaError_t cudaGraphExecKernelNodeSetParams(cudaGraphExec_t x, cudaGraphNode_t node,
                                             const struct cudaKernelNodeParams *p) {
    return x ? cudaGraphKernelNodeSetParams(copy_of(x->graph, node), p) : wb_return(cudaErrorInvalidValue);
}

static struct wb_command copy_command(void *to, const void *from, size_t n, enum cudaMemcpyKind kind) {
    return (struct wb_command){.kind = WB_COPY, .copy = {to, from, n, n, n, 1, kind}};
}

cudaError_t cudaGraphAddMemcpyNode1D(cudaGraphNode_t *out, cudaGraph_t g, const cudaGraphNode_t *deps, size_t ndeps,
                                     void *to, const void *from, size_t n, enum cudaMemcpyKind kind) {
    struct wb_command c = copy_command(to, from, n, kind);
    return wb_return(add(out, g, deps, ndeps, &c));
}

cudaError_t cudaGraphMemcpyNodeSetParams1D(cudaGraphNode_t node, void *to, const void *from, size_t n,
                                           enum cudaMemcpyKind kind) {
    struct wb_command c = copy_command(to, from, n, kind);
    return wb_return(replace(node, &c));
}

cudaError_t cudaGraphExecMemcpyNodeSetParams1D(cudaGraphExec_t x, cudaGraphNode_t node, void *to, const void *from,
                                               size_t n, enum cudaMemcpyKind kind) {
    if (!x) return wb_return(cudaErrorInvalidValue);
    return cudaGraphMemcpyNodeSetParams1D(copy_of(x->graph, node), to, from, n, kind);
}

cudaError_t cudaGraphAddMemcpyNode(cudaGraphNode_t *out, cudaGraph_t g, const cudaGraphNode_t *deps, size_t ndeps,
                                   const struct cudaMemcpy3DParms *p) {
    if (!p) return wb_return(cudaErrorInvalidValue);
    if (p->srcArray || p->dstArray || p->extent.depth > 1) return wb_unsupported("cudaGraphAddMemcpyNode in 3-D");
    struct wb_command c = {.kind = WB_COPY,
                           .copy = {(char *)p->dstPtr.ptr + p->dstPos.y * p->dstPtr.pitch + p->dstPos.x,
                                    (char *)p->srcPtr.ptr + p->srcPos.y * p->srcPtr.pitch + p->srcPos.x,
                                    p->dstPtr.pitch, p->srcPtr.pitch, p->extent.width, p->extent.height, p->kind}};
    return wb_return(add(out, g, deps, ndeps, &c));
}

static int fill_command(const struct cudaMemsetParams *p, struct wb_command *c) {
    if (!p || (p->elementSize != 1 && p->elementSize != 2 && p->elementSize != 4)) return cudaErrorInvalidValue;
    size_t pitch = p->height > 1 ? p->pitch : p->width * p->elementSize;
    *c = (struct wb_command){.kind = WB_FILL, .fill = {p->dst, pitch, p->width, p->height, p->value, p->elementSize}};
    return 0;
}

cudaError_t cudaGraphAddMemsetNode(cudaGraphNode_t *out, cudaGraph_t g, const cudaGraphNode_t *deps, size_t ndeps,
                                   const struct cudaMemsetParams *p) {
    struct wb_command c;
    int error = fill_command(p, &c);
    return wb_return(error ? error : add(out, g, deps, ndeps, &c));
}

cudaError_t cudaGraphMemsetNodeSetParams(cudaGraphNode_t node, const struct cudaMemsetParams *p) {
    struct wb_command c;
    int error = fill_command(p, &c);
    return wb_return(error ? error : replace(node, &c));
}

cudaError_t cudaGraphExecMemsetNodeSetParams(cudaGraphExec_t x, cudaGraphNode_t node,
                                             const struct cudaMemsetParams *p) {
    return x ? cudaGraphMemsetNodeSetParams(copy_of(x->graph, node), p) : wb_return(cudaErrorInvalidValue);
}

cudaError_t cudaGraphAddHostNode(cudaGraphNode_t *out, cudaGraph_t g, const cudaGraphNode_t *deps, size_t ndeps,
                                 const struct cudaHostNodeParams *p) {
    if (!p || !p->fn) return wb_return(cudaErrorInvalidValue);
    struct wb_command c = {.kind = WB_HOST, .host = {p->fn, p->userData}};
    return wb_return(add(out, g, deps, ndeps, &c));
}

cudaError_t cudaGraphAddEmptyNode(cudaGraphNode_t *out, cudaGraph_t g, const cudaGraphNode_t *deps, size_t ndeps) {
    struct wb_command c = {.kind = WB_EMPTY};
    return wb_return(add(out, g, deps, ndeps, &c));
}

cudaError_t cudaGraphAddEventRecordNode(cudaGraphNode_t *out, cudaGraph_t g, const cudaGraphNode_t *deps, size_t ndeps,
                                        cudaEvent_t e) {
    struct wb_command c = {.kind = WB_RECORD, .event = e};
    return wb_return(add(out, g, deps, ndeps, &c));
}

cudaError_t cudaGraphAddEventWaitNode(cudaGraphNode_t *out, cudaGraph_t g, const cudaGraphNode_t *deps, size_t ndeps,
                                      cudaEvent_t e) {
    (void)e; /* whatever recorded it is done */
    return cudaGraphAddEmptyNode(out, g, deps, ndeps);
}

cudaError_t cudaGraphAddChildGraphNode(cudaGraphNode_t *out, cudaGraph_t g, const cudaGraphNode_t *deps, size_t ndeps,
                                       cudaGraph_t child) {
    if (!child) return wb_return(cudaErrorInvalidValue);
    struct wb_command c = {.kind = WB_CHILD, .child = clone_graph(child)};
    return wb_return(add(out, g, deps, ndeps, &c));
}

cudaError_t cudaGraphClone(cudaGraph_t *out, cudaGraph_t g) {
    if (!out || !g) return wb_return(cudaErrorInvalidValue);
    *out = clone_graph(g);
    return cudaSuccess;
}

/* ---- looking ---- */

cudaError_t cudaGraphNodeGetType(cudaGraphNode_t node, enum cudaGraphNodeType *type) {
    static const enum cudaGraphNodeType types[] = {
        [WB_LAUNCH] = cudaGraphNodeTypeKernel,      [WB_COPY] = cudaGraphNodeTypeMemcpy,
        [WB_FILL] = cudaGraphNodeTypeMemset,        [WB_HOST] = cudaGraphNodeTypeHost,
        [WB_RECORD] = cudaGraphNodeTypeEventRecord, [WB_EMPTY] = cudaGraphNodeTypeEmpty,
        [WB_CHILD] = cudaGraphNodeTypeGraph,
    };
    if (!node || !type) return wb_return(cudaErrorInvalidValue);
    *type = types[node->command.kind];
    return cudaSuccess;
}

static cudaError_t list(cudaGraph_t g, bool roots_only, cudaGraphNode_t *out, size_t *n) {
    size_t found = 0;
    if (!g || !n) return wb_return(cudaErrorInvalidValue);
    for (size_t i = 0; i < g->n; i++) {
        if (roots_only && g->nodes[i]->ndeps) continue;
        if (out && found < *n) out[found] = g->nodes[i];
        found++;
    }
    if (!out || found < *n) *n = found;
    return cudaSuccess;
}

cudaError_t cudaGraphGetNodes(cudaGraph_t g, cudaGraphNode_t *out, size_t *n) { return list(g, false, out, n); }
cudaError_t cudaGraphGetRootNodes(cudaGraph_t g, cudaGraphNode_t *out, size_t *n) { return list(g, true, out, n); }

static int connect_nodes(const cudaGraphNode_t *from, const cudaGraphNode_t *to, size_t n) {
    for (size_t i = 0; i < n; i++) {
        if (!from[i] || !to[i] || from[i]->graph != to[i]->graph) return cudaErrorInvalidValue;
        add_dep(to[i], from[i]);
    }
    return 0;
}

#if CUDART_VERSION >= 13000
cudaError_t cudaGraphAddDependencies(cudaGraph_t g, const cudaGraphNode_t *from, const cudaGraphNode_t *to,
                                     const cudaGraphEdgeData *data, size_t n) {
    (void)g, (void)data;
    return wb_return(connect_nodes(from, to, n));
}
#else
cudaError_t cudaGraphAddDependencies(cudaGraph_t g, const cudaGraphNode_t *from, const cudaGraphNode_t *to, size_t n) {
    (void)g;
    return wb_return(connect_nodes(from, to, n));
}
#endif

cudaError_t cudaGraphNodeSetEnabled(cudaGraphExec_t x, cudaGraphNode_t node, unsigned enabled) {
    cudaGraphNode_t copy = x ? copy_of(x->graph, node) : NULL;
    if (copy) copy->disabled = !enabled;
    return wb_return(copy ? 0 : cudaErrorInvalidValue);
}

cudaError_t cudaGraphNodeGetEnabled(cudaGraphExec_t x, cudaGraphNode_t node, unsigned *enabled) {
    cudaGraphNode_t copy = x ? copy_of(x->graph, node) : NULL;
    if (copy) *enabled = !copy->disabled;
    return wb_return(copy ? 0 : cudaErrorInvalidValue);
}

/* Same nodes, same edges, new parameters; anything else is refused. */
static bool same_shape(cudaGraph_t a, cudaGraph_t b) {
    if (a->n != b->n) return false;
    for (size_t i = 0; i < a->n; i++)
        if (a->nodes[i]->command.kind != b->nodes[i]->command.kind || a->nodes[i]->ndeps != b->nodes[i]->ndeps)
            return false;
    return true;
}

cudaError_t cudaGraphExecUpdate(cudaGraphExec_t x, cudaGraph_t g, cudaGraphExecUpdateResultInfo *result) {
    if (!x || !g || !result) return wb_return(cudaErrorInvalidValue);
    memset(result, 0, sizeof *result);
    cudaGraph_t fresh = clone_graph(g);
    if (sort_all(fresh) && same_shape(x->graph, fresh)) {
        cudaGraphDestroy(x->graph);
        x->graph = fresh;
        result->result = cudaGraphExecUpdateSuccess;
        return cudaSuccess;
    }
    cudaGraphDestroy(fresh);
    result->result = cudaGraphExecUpdateErrorTopologyChanged;
    return wb_return(cudaErrorGraphExecUpdateFailure);
}
