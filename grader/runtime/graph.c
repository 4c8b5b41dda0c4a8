/* graph.c — graphs: commands with dependencies, launched as one unit. graph_nodes.c adds single
 * nodes, graph_topology.c queries and changes graphs. A graph is a list of
 * nodes that own their commands; an executable graph is a copy of one, its nodes in an order that
 * respects every edge. Node handles of the original name nodes of the copy by position. */
#include "grader/runtime/graph.h"

#include <stdlib.h>
#include <string.h>

/* ---- building ---- */

static void *grow_array(void *array, size_t n, size_t size) {
    void *p = realloc(array, (n + 1) * size);
    if (!p) abort();
    return p;
}

void wb_graph_add_dep(cudaGraphNode_t node, cudaGraphNode_t dep) {
    node->deps = grow_array(node->deps, node->ndeps, sizeof *node->deps);
    node->deps[node->ndeps++] = dep;
}

/* Copies the data that a command points to; the node owns the copies. */
static void acquire_resources(struct wb_command *c) {
    if (c->kind == WB_ALLOC || c->kind == WB_FREE) wb_graph_memory_retain(c->memory.p);
    if (c->kind == WB_CONDITIONAL) wb_graph_memory_retain((void *)c->conditional.handle);
    if (c->kind != WB_LAUNCH) return;
    uint8_t *copy = grow_array(NULL, c->launch.param_bytes, 1);
    if (c->launch.param_bytes) memcpy(copy, c->launch.params, c->launch.param_bytes);
    c->launch.params = copy;
}

static void release_resources(struct wb_command *c) {
    if (c->kind == WB_LAUNCH) free(c->launch.params);
    if (c->kind == WB_CHILD) cudaGraphDestroy(c->child);
    if (c->kind == WB_ALLOC || c->kind == WB_FREE) wb_graph_memory_release(c->memory.p);
    if (c->kind != WB_CONDITIONAL) return;
    for (unsigned i = 0; i < c->conditional.body_count; i++)
        cudaGraphDestroy(c->conditional.bodies[i]);
    free(c->conditional.bodies);
    wb_graph_memory_release((void *)c->conditional.handle);
}

/* Replaces the graphs that a command owns by copies. */
static void clone_children(struct wb_command *c) {
    if (c->kind == WB_CHILD) c->child = wb_graph_clone(c->child);
    if (c->kind != WB_CONDITIONAL) return;
    cudaGraph_t *copies = grow_array(NULL, c->conditional.body_count, sizeof *copies);
    for (unsigned i = 0; i < c->conditional.body_count; i++)
        copies[i] = wb_graph_clone(c->conditional.bodies[i]);
    c->conditional.bodies = copies;
}

cudaGraph_t wb_graph_child(const struct wb_command *c, size_t i) {
    if (c->kind == WB_CHILD) return i ? NULL : c->child;
    return c->kind == WB_CONDITIONAL && i < c->conditional.body_count ? c->conditional.bodies[i]
                                                                      : NULL;
}

int wb_graph_replace(cudaGraphNode_t node, const struct wb_command *command) {
    if (!node || node->command.kind != command->kind) return cudaErrorInvalidValue;
    struct wb_command old = node->command;
    node->command = *command;
    acquire_resources(&node->command);
    release_resources(&old);
    return node->held_graph ? wb_graph_hold_again(node) : 0;
}

int wb_graph_add(cudaGraph_t g, const struct wb_command *c, cudaGraphNode_t const *deps,
                 size_t ndeps, cudaGraphNode_t *out) {
    for (size_t i = 0; i < ndeps; i++)
        if (!deps[i] || deps[i]->graph != g) return cudaErrorInvalidValue;
    cudaGraphNode_t node = calloc(1, sizeof *node);
    if (!node) return cudaErrorMemoryAllocation;
    node->graph = g;
    node->command = *c;
    node->command.device = wb_current_device();
    acquire_resources(&node->command);
    for (size_t i = 0; i < ndeps; i++) wb_graph_add_dep(node, deps[i]);
    g->nodes = grow_array(g->nodes, g->n, sizeof *g->nodes);
    g->nodes[g->n++] = node;
    if (out) *out = node;
    return 0;
}

void wb_graph_free_node(cudaGraphNode_t node) {
    release_resources(&node->command);
    free(node->param_pointers);
    free(node->deps);
    free(node);
}

/* Programs may pass a handle that was destroyed, or never set since a call failed. */
static struct CUgraph_st *live_graphs;

static cudaGraph_t new_graph(void) {
    cudaGraph_t g = calloc(1, sizeof *g);
    if (!g) return NULL;
    wb_lock();
    g->next = live_graphs, g->link = &live_graphs;
    if (g->next) g->next->link = &g->next;
    live_graphs = g;
    wb_unlock();
    return g;
}

static void unlink_graph(cudaGraph_t g) {
    wb_lock();
    *g->link = g->next;
    if (g->next) g->next->link = g->link;
    wb_unlock();
}

static int check_graph(cudaGraph_t g) {
    wb_lock();
    struct CUgraph_st *found = live_graphs;
    while (found && found != g) found = found->next;
    wb_unlock();
    return found ? 0
                 : wb_refuse(cudaErrorInvalidValue,
                             "the graph was destroyed, or no call returned it");
}

cudaError_t cudaGraphCreate(cudaGraph_t *out, unsigned flags) {
    if (!out || flags) return wb_return(cudaErrorInvalidValue);
    *out = new_graph();
    return wb_return(*out ? 0 : cudaErrorMemoryAllocation);
}

cudaError_t cudaGraphDestroy(cudaGraph_t g) {
    int error = check_graph(g);
    if (error) return wb_return(error);
    unlink_graph(g);
    for (size_t i = 0; i < g->n; i++) wb_graph_free_node(g->nodes[i]);
    free(g->nodes);
    free(g);
    return cudaSuccess;
}

cudaGraphNode_t wb_graph_copy_of(cudaGraph_t g, cudaGraphNode_t original) {
    for (size_t i = 0; i < g->n; i++)
        if (g->nodes[i]->source == original) return g->nodes[i];
    return NULL;
}

cudaGraph_t wb_graph_clone(cudaGraph_t g) {
    cudaGraph_t clone = new_graph();
    for (size_t i = 0; clone && i < g->n; i++) {
        struct wb_command c = g->nodes[i]->command;
        clone_children(&c);
        cudaGraphNode_t node;
        if (wb_graph_add(clone, &c, NULL, 0, &node)) abort();
        node->source = g->nodes[i];
    }
    for (size_t i = 0; clone && i < g->n; i++)
        for (size_t d = 0; d < g->nodes[i]->ndeps; d++)
            wb_graph_add_dep(clone->nodes[i], wb_graph_copy_of(clone, g->nodes[i]->deps[d]));
    return clone;
}

/* ---- running ---- */

static bool is_ready(cudaGraphNode_t node) {
    for (size_t i = 0; i < node->ndeps; i++)
        if (!node->deps[i]->done) return false;
    return !node->done;
}

void wb_graph_mark_ancestors(cudaGraph_t g, const cudaGraphNode_t *nodes, size_t n) {
    for (size_t i = 0; i < g->n; i++) g->nodes[i]->done = false;
    for (size_t i = 0; i < n; i++) nodes[i]->done = true;
    for (size_t i = g->n; i-- > 0;) /* a captured node is behind its dependencies */
        for (size_t d = 0; g->nodes[i]->done && d < g->nodes[i]->ndeps; d++)
            g->nodes[i]->deps[d]->done = true;
}

bool wb_graph_is_marked(cudaGraphNode_t node) { return node->done; }

/* Sorts the nodes topologically. Returns false if they form a cycle. */
static bool topological_sort(cudaGraph_t g) {
    cudaGraphNode_t *sorted = grow_array(NULL, g->n, sizeof *sorted);
    size_t n = 0, prev;
    for (size_t i = 0; i < g->n; i++) g->nodes[i]->done = false;
    do {
        prev = n;
        for (size_t i = 0; i < g->n; i++) {
            if (!is_ready(g->nodes[i])) continue;
            g->nodes[i]->done = true;
            sorted[n++] = g->nodes[i];
        }
    } while (n > prev);
    bool is_acyclic = n == g->n;
    if (is_acyclic) memcpy(g->nodes, sorted, n * sizeof *sorted);
    free(sorted);
    return is_acyclic;
}

/* Returns true if each node depends on the previous one, as in a stream. */
static bool is_chain(cudaGraph_t g) {
    for (size_t i = 1; i < g->n; i++) {
        bool found = false;
        for (size_t d = 0; d < g->nodes[i]->ndeps; d++)
            found |= g->nodes[i]->deps[d] == g->nodes[i - 1];
        if (!found) return false;
    }
    return true;
}

static int run_node(cudaGraphNode_t node) {
    if (node->disabled) return 0;
    return node->held_graph ? wb_graph_run_held(node) : wb_run_node(&node->command);
}

/* Runs a graph with independent nodes, and reports each node's dependencies. */
static int run_forked(cudaGraph_t g) {
    struct wb_order_fork *f = wb_order_fork_begin(g->n);
    size_t *deps = NULL, ran = 0;
    int error = f ? 0 : cudaErrorMemoryAllocation;
    for (; !error && ran < g->n; ran++) {
        cudaGraphNode_t node = g->nodes[ran];
        node->position = ran;
        deps = grow_array(deps, node->ndeps + 1, sizeof *deps);
        for (size_t d = 0; d < node->ndeps; d++) deps[d] = node->deps[d]->position;
        wb_order_fork_node(f, ran, deps, node->ndeps);
        error = run_node(node);
        wb_order_fork_node_end(f, ran);
    }
    if (f) wb_order_fork_end(f, ran);
    free(deps);
    return error;
}

int wb_graph_run(cudaGraph_t g) {
    int error = 0;
    if (wb_order_is_reported() && !is_chain(g)) return run_forked(g);
    for (size_t i = 0; !error && i < g->n; i++) error = run_node(g->nodes[i]);
    return error;
}

bool wb_graph_sort(cudaGraph_t g) {
    bool ok = topological_sort(g);
    if (ok && !is_chain(g)) wb_order_report(); /* Some of its nodes may run at the same time. */
    for (size_t i = 0; i < g->n; i++)
        for (size_t k = 0; ok && wb_graph_child(&g->nodes[i]->command, k); k++)
            ok = wb_graph_sort(wb_graph_child(&g->nodes[i]->command, k));
    return ok;
}

/* Returns true if a launch frees memory that an earlier launch allocated and didn't free. */
static void set_auto_free(cudaGraph_t g, bool auto_free) {
    for (size_t i = 0; i < g->n; i++) {
        struct wb_command *c = &g->nodes[i]->command;
        if (c->kind == WB_ALLOC) c->memory.auto_free = auto_free;
        for (size_t k = 0; wb_graph_child(c, k); k++)
            set_auto_free(wb_graph_child(c, k), auto_free);
    }
}

/* ---- executable graphs ---- */

static struct CUgraphExec_st *live_execs;

static void add_live(cudaGraphExec_t x) {
    wb_lock();
    x->next = live_execs, live_execs = x;
    wb_unlock();
}

static void remove_live(cudaGraphExec_t x) {
    wb_lock();
    struct CUgraphExec_st **at = &live_execs;
    while (*at && *at != x) at = &(*at)->next;
    if (*at) *at = x->next;
    wb_unlock();
}

/* A GPU's driver reads a destroyed graph's memory, and may crash. */
static int check_live(cudaGraphExec_t x) {
    wb_lock();
    struct CUgraphExec_st *found = live_execs;
    while (found && found != x) found = found->next;
    wb_unlock();
    return found ? 0
                 : wb_refuse(cudaErrorInvalidValue,
                             "the executable graph was destroyed, or cudaGraphInstantiate never "
                             "returned it");
}

static void destroy(cudaGraphExec_t x) {
    remove_live(x);
    wb_graph_device_remove(x);
    wb_graph_release_held(x);
    cudaGraphDestroy(x->graph);
    free(x);
}

static int instantiate(cudaGraphExec_t *out, cudaGraph_t g, unsigned long long flags) {
    if (!out) return cudaErrorInvalidValue;
    int error = check_graph(g);
    if (error) return error;
    error = flags & cudaGraphInstantiateFlagDeviceLaunch ? wb_graph_device_prepare(g) : 0;
    if (error) return error;
    cudaGraphExec_t x = calloc(1, sizeof *x);
    if (!x) return cudaErrorMemoryAllocation;
    x->graph = wb_graph_clone(g);
    x->graph->executable = true;
    x->graph->flags = flags;
    set_auto_free(x->graph, flags & cudaGraphInstantiateFlagAutoFreeOnLaunch);
    error = wb_graph_sort(x->graph) ? wb_graph_hold(x) : cudaErrorInvalidValue;
    if (error) {
        destroy(x);
        return error;
    }
    add_live(x);
    *out = x;
    return 0;
}

cudaError_t cudaGraphInstantiate(cudaGraphExec_t *out, cudaGraph_t g, unsigned long long flags) {
    return wb_return(instantiate(out, g, flags));
}
cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t *out, cudaGraph_t g,
                                          unsigned long long flags) {
    return wb_return(instantiate(out, g, flags));
}

cudaError_t cudaGraphInstantiateWithParams(cudaGraphExec_t *out, cudaGraph_t g,
                                           cudaGraphInstantiateParams *p) {
    if (!p) return wb_return(cudaErrorInvalidValue);
    int error = instantiate(out, g, p->flags);
    p->result_out = error ? cudaGraphInstantiateInvalidStructure : cudaGraphInstantiateSuccess;
    p->errNode_out = NULL;
    return wb_return(error);
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t x) {
    int error = check_live(x);
    if (error) return wb_return(error);
    destroy(x);
    return cudaSuccess;
}

static int run_in_stream(cudaGraphExec_t x, cudaStream_t s) {
    wb_order_command(s);
    int error = wb_graph_launch_held(x);
    if (!error) error = wb_graph_conditional_reset(x->graph);
    if (!error) error = wb_graph_device_upload(x);
    if (!error) error = wb_graph_device_run(x);
    if (!error) wb_stream_update_seq(s);
    return error;
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t x, cudaStream_t s) {
    int error = check_live(x);
    if (!error) error = wb_check_stream(s);
    struct wb_capture *capture = error ? NULL : wb_stream_capture(s);
    if (capture && capture->graph) { /* captured: it becomes a child of the other graph */
        struct wb_command c = {.kind = WB_CHILD, .child = wb_graph_clone(x->graph)};
        return wb_return(wb_issue_command(s, &c));
    }
    if (!error) error = wb_check_implicit_sync(s);
    return wb_return(error ? error : run_in_stream(x, s));
}

cudaError_t cudaGraphUpload(cudaGraphExec_t x, cudaStream_t s) {
    int error = x ? wb_check_stream(s) : cudaErrorInvalidValue;
    return wb_return(error ? error : wb_graph_device_upload(x));
}

cudaError_t cudaGraphExecGetFlags(cudaGraphExec_t x, unsigned long long *flags) {
    *flags = x->graph->flags;
    return cudaSuccess;
}
