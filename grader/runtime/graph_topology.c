/* graph_topology.c — queries and changes the nodes and edges of graphs, clones graphs, and updates
 * executable graphs. */
#include "grader/runtime/graph.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const enum cudaGraphNodeType types[] = {
    [WB_LAUNCH] = cudaGraphNodeTypeKernel,
    [WB_COPY] = cudaGraphNodeTypeMemcpy,
    [WB_FILL] = cudaGraphNodeTypeMemset,
    [WB_HOST] = cudaGraphNodeTypeHost,
    [WB_RECORD] = cudaGraphNodeTypeEventRecord,
    [WB_WAIT] = cudaGraphNodeTypeWaitEvent,
    [WB_EMPTY] = cudaGraphNodeTypeEmpty,
    [WB_CHILD] = cudaGraphNodeTypeGraph,
    [WB_ALLOC] = cudaGraphNodeTypeMemAlloc,
    [WB_FREE] = cudaGraphNodeTypeMemFree,
    [WB_CONDITIONAL] = (enum cudaGraphNodeType)0xd, /* older headers lack this name */
};

cudaError_t cudaGraphNodeGetType(cudaGraphNode_t node, enum cudaGraphNodeType *type) {
    if (!node || !type) return wb_return(cudaErrorInvalidValue);
    *type = types[node->command.kind];
    return cudaSuccess;
}

/* ---- lists: fill the caller's array, or return the count if it is NULL ---- */

struct node_list {
    cudaGraphNode_t *out, *edge_ends; /* second: the other ends of edges, or NULL */
    size_t capacity, count;
};

static void append(struct node_list *l, cudaGraphNode_t node, cudaGraphNode_t edge_end) {
    if (l->out && l->count < l->capacity) l->out[l->count] = node;
    if (l->edge_ends && l->count < l->capacity) l->edge_ends[l->count] = edge_end;
    l->count++;
}

static int finish_list(struct node_list *l, size_t *n) {
    for (size_t i = l->count; i < l->capacity; i++) {
        if (l->out) l->out[i] = NULL;
        if (l->edge_ends) l->edge_ends[i] = NULL;
    }
    if (!l->out || l->count < *n) *n = l->count;
    return 0;
}

static struct node_list make_list(cudaGraphNode_t *out, cudaGraphNode_t *edge_ends,
                                  const size_t *n) {
    return (struct node_list){.out = out, .edge_ends = edge_ends, .capacity = out ? *n : 0};
}

static int list_nodes(cudaGraph_t g, bool roots_only, cudaGraphNode_t *out, size_t *n) {
    if (!g || !n) return cudaErrorInvalidValue;
    struct node_list l = make_list(out, NULL, n);
    for (size_t i = 0; i < g->n; i++)
        if (!roots_only || !g->nodes[i]->ndeps) append(&l, g->nodes[i], NULL);
    return finish_list(&l, n);
}

cudaError_t cudaGraphGetNodes(cudaGraph_t g, cudaGraphNode_t *out, size_t *n) {
    return wb_return(list_nodes(g, false, out, n));
}
cudaError_t cudaGraphGetRootNodes(cudaGraph_t g, cudaGraphNode_t *out, size_t *n) {
    return wb_return(list_nodes(g, true, out, n));
}

static int list_edges(cudaGraph_t g, cudaGraphNode_t *from, cudaGraphNode_t *to, size_t *n) {
    if (!g || !n || !from != !to) return cudaErrorInvalidValue;
    struct node_list l = make_list(from, to, n);
    for (size_t i = 0; i < g->n; i++)
        for (size_t d = 0; d < g->nodes[i]->ndeps; d++)
            append(&l, g->nodes[i]->deps[d], g->nodes[i]);
    return finish_list(&l, n);
}

static int list_dependencies(cudaGraphNode_t node, cudaGraphNode_t *out, size_t *n) {
    if (!node || !n) return cudaErrorInvalidValue;
    struct node_list l = make_list(out, NULL, n);
    for (size_t i = 0; i < node->ndeps; i++) append(&l, node->deps[i], NULL);
    return finish_list(&l, n);
}

static bool depends_on(cudaGraphNode_t node, cudaGraphNode_t dep) {
    for (size_t i = 0; i < node->ndeps; i++)
        if (node->deps[i] == dep) return true;
    return false;
}

static int list_dependents(cudaGraphNode_t node, cudaGraphNode_t *out, size_t *n) {
    if (!node || !n) return cudaErrorInvalidValue;
    struct node_list l = make_list(out, NULL, n);
    for (size_t i = 0; i < node->graph->n; i++)
        if (depends_on(node->graph->nodes[i], node)) append(&l, node->graph->nodes[i], NULL);
    return finish_list(&l, n);
}

/* ---- edges, changed ---- */

static int add_edges(cudaGraph_t g, const cudaGraphNode_t *from, const cudaGraphNode_t *to,
                     size_t n) {
    for (size_t i = 0; i < n; i++)
        if (!from[i] || !to[i] || from[i]->graph != g || to[i]->graph != g ||
            depends_on(to[i], from[i]))
            return cudaErrorInvalidValue;
    for (size_t i = 0; i < n; i++) wb_graph_add_dep(to[i], from[i]);
    return 0;
}

static void remove_edge(cudaGraphNode_t node, cudaGraphNode_t dep) {
    size_t nretained = 0;
    for (size_t i = 0; i < node->ndeps; i++)
        if (node->deps[i] != dep) node->deps[nretained++] = node->deps[i];
    node->ndeps = nretained;
}

static int remove_edges(cudaGraph_t g, const cudaGraphNode_t *from, const cudaGraphNode_t *to,
                        size_t n) {
    for (size_t i = 0; i < n; i++)
        if (!from[i] || !to[i] || to[i]->graph != g || !depends_on(to[i], from[i]))
            return cudaErrorInvalidValue;
    for (size_t i = 0; i < n; i++) remove_edge(to[i], from[i]);
    return 0;
}

static int destroy_node(cudaGraphNode_t node) {
    if (!node || node->graph->executable || node->command.kind == WB_ALLOC ||
        node->command.kind == WB_FREE)
        return node && !node->graph->executable ? cudaErrorNotSupported : cudaErrorInvalidValue;
    cudaGraph_t g = node->graph;
    size_t nretained = 0;
    for (size_t i = 0; i < g->n; i++) {
        remove_edge(g->nodes[i], node);
        if (g->nodes[i] != node) g->nodes[nretained++] = g->nodes[i];
    }
    g->n = nretained;
    wb_graph_free_node(node);
    return 0;
}
cudaError_t cudaGraphDestroyNode(cudaGraphNode_t node) { return wb_return(destroy_node(node)); }

/* Edges have no data here: a kernel that may start early starts later. */
#if CUDART_VERSION >= 13000
#define WITH_DATA(type) , type data
#define IGNORE_DATA     (void)data
#else
#define WITH_DATA(type)
#define IGNORE_DATA (void)0
#endif

cudaError_t cudaGraphGetEdges(cudaGraph_t g, cudaGraphNode_t *from,
                              cudaGraphNode_t *to WITH_DATA(cudaGraphEdgeData *), size_t *n) {
    IGNORE_DATA;
    return wb_return(list_edges(g, from, to, n));
}
cudaError_t cudaGraphNodeGetDependencies(cudaGraphNode_t node,
                                         cudaGraphNode_t *out WITH_DATA(cudaGraphEdgeData *),
                                         size_t *n) {
    IGNORE_DATA;
    return wb_return(list_dependencies(node, out, n));
}
cudaError_t cudaGraphNodeGetDependentNodes(cudaGraphNode_t node,
                                           cudaGraphNode_t *out WITH_DATA(cudaGraphEdgeData *),
                                           size_t *n) {
    IGNORE_DATA;
    return wb_return(list_dependents(node, out, n));
}
cudaError_t cudaGraphAddDependencies(cudaGraph_t g, const cudaGraphNode_t *from,
                                     const cudaGraphNode_t *to WITH_DATA(const cudaGraphEdgeData *),
                                     size_t n) {
    IGNORE_DATA;
    return wb_return(g ? add_edges(g, from, to, n) : cudaErrorInvalidValue);
}
cudaError_t
cudaGraphRemoveDependencies(cudaGraph_t g, const cudaGraphNode_t *from,
                            const cudaGraphNode_t *to WITH_DATA(const cudaGraphEdgeData *),
                            size_t n) {
    IGNORE_DATA;
    return wb_return(g ? remove_edges(g, from, to, n) : cudaErrorInvalidValue);
}

/* ---- copies ---- */

cudaError_t cudaGraphClone(cudaGraph_t *out, cudaGraph_t g) {
    if (!out || !g) return wb_return(cudaErrorInvalidValue);
    *out = wb_graph_clone(g);
    return cudaSuccess;
}

cudaError_t cudaGraphNodeFindInClone(cudaGraphNode_t *out, cudaGraphNode_t original,
                                     cudaGraph_t clone) {
    cudaGraphNode_t found = clone && original ? wb_graph_copy_of(clone, original) : NULL;
    if (!out || !found) return wb_return(cudaErrorInvalidValue);
    *out = found;
    return cudaSuccess;
}

/* ---- new parameters for an executable graph ---- */

/* Nodes correspond in the order in which they run. Reports a differing kind, edge or memory node's
 * address. */
static enum cudaGraphExecUpdateResult compare_nodes(cudaGraphNode_t a, cudaGraphNode_t b) {
    if (a->command.kind != b->command.kind) return cudaGraphExecUpdateErrorNodeTypeChanged;
    if (a->ndeps != b->ndeps) return cudaGraphExecUpdateErrorTopologyChanged;
    if (a->command.kind == WB_ALLOC && a->command.memory.bytes != b->command.memory.bytes)
        return cudaGraphExecUpdateErrorParametersChanged;
    if (a->command.kind == WB_CONDITIONAL &&
        (a->command.conditional.type != b->command.conditional.type ||
         a->command.conditional.body_count != b->command.conditional.body_count))
        return cudaGraphExecUpdateErrorParametersChanged;
    if (a->command.kind == WB_LAUNCH &&
        a->command.launch.cooperative != b->command.launch.cooperative)
        return cudaGraphExecUpdateErrorAttributesChanged;
    return cudaGraphExecUpdateSuccess;
}

static void compare_graphs(cudaGraph_t a, cudaGraph_t b, cudaGraphExecUpdateResultInfo *out) {
    for (size_t i = 0; i < a->n && i < b->n && out->result == cudaGraphExecUpdateSuccess; i++) {
        out->result = compare_nodes(a->nodes[i], b->nodes[i]);
        if (out->result) out->errorNode = b->nodes[i]->source;
        for (size_t k = 0; !out->result && wb_graph_child(&a->nodes[i]->command, k); k++)
            compare_graphs(wb_graph_child(&a->nodes[i]->command, k),
                           wb_graph_child(&b->nodes[i]->command, k), out);
    }
    if (!out->result && a->n != b->n) out->result = cudaGraphExecUpdateErrorTopologyChanged;
}

/* The new kernels set the new graph's conditions. Each node still holds its memory. */
static void swap_handles(struct wb_command *a, struct wb_command *b) {
    uint64_t handle = a->conditional.handle;
    a->conditional.handle = b->conditional.handle, b->conditional.handle = handle;
}

/* The nodes still correspond to those of the original graph. Returns an error if the server does
 * not take the new commands. */
static int swap_commands(cudaGraph_t to, cudaGraph_t from) {
    int error = 0;
    for (size_t i = 0; !error && i < to->n; i++) {
        struct wb_command old = to->nodes[i]->command;
        for (size_t k = 0; !error && wb_graph_child(&old, k); k++)
            error =
                swap_commands(wb_graph_child(&old, k), wb_graph_child(&from->nodes[i]->command, k));
        if (old.kind == WB_CONDITIONAL)
            swap_handles(&to->nodes[i]->command, &from->nodes[i]->command);
        if (old.kind == WB_CHILD || old.kind == WB_ALLOC || old.kind == WB_CONDITIONAL) continue;
        to->nodes[i]->command = from->nodes[i]->command;
        from->nodes[i]->command = old;
        if (!error && to->nodes[i]->held_graph) error = wb_graph_hold_again(to->nodes[i]);
    }
    return error;
}

cudaError_t cudaGraphExecUpdate(cudaGraphExec_t x, cudaGraph_t g,
                                cudaGraphExecUpdateResultInfo *result) {
    if (!x || !g || !result) return wb_return(cudaErrorInvalidValue);
    memset(result, 0, sizeof *result);
    cudaGraph_t updated = wb_graph_clone(g);
    if (!wb_graph_sort(updated)) result->result = cudaGraphExecUpdateError;
    else compare_graphs(x->graph, updated, result);
    int error = result->result ? cudaErrorGraphExecUpdateFailure : swap_commands(x->graph, updated);
    cudaGraphDestroy(updated);
    return wb_return(error);
}

/* ---- a picture ---- */

static const char *const names[] = {
    [WB_LAUNCH] = "kernel", [WB_COPY] = "memcpy",           [WB_FILL] = "memset",
    [WB_HOST] = "host",     [WB_RECORD] = "record",         [WB_WAIT] = "wait",
    [WB_EMPTY] = "empty",   [WB_CHILD] = "graph",           [WB_ALLOC] = "alloc",
    [WB_FREE] = "free",     [WB_CONDITIONAL] = "condition",
};

static size_t node_index(cudaGraphNode_t node) {
    size_t i = 0;
    while (node->graph->nodes[i] != node) i++;
    return i;
}

static const char *kernel_of(cudaGraphNode_t node) {
    int error;
    const struct wb_function *f = NULL;
    if (node->command.kind == WB_LAUNCH) f = wb_get_function(node->command.launch.func, &error);
    return f ? f->name : "";
}

cudaError_t cudaGraphDebugDotPrint(cudaGraph_t g, const char *path, unsigned flags) {
    (void)flags;
    FILE *f = g && path ? fopen(path, "w") : NULL;
    if (!f) return wb_return(g && path ? cudaErrorOperatingSystem : cudaErrorInvalidValue);
    fprintf(f, "digraph graph_1 {\n");
    for (size_t i = 0; i < g->n; i++) {
        fprintf(f, "  node_%zu [label=\"%s %s\"];\n", i, names[g->nodes[i]->command.kind],
                kernel_of(g->nodes[i]));
        for (size_t d = 0; d < g->nodes[i]->ndeps; d++)
            fprintf(f, "  node_%zu -> node_%zu;\n", node_index(g->nodes[i]->deps[d]), i);
    }
    fprintf(f, "}\n");
    return wb_return(fclose(f) ? cudaErrorOperatingSystem : 0);
}
