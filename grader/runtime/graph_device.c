/* graph_device.c — graphs that kernels launch (cudaGraphInstantiateFlagDeviceLaunch). A kernel
 * leaves what it launches in a place of device memory (sim/graph_mailbox.def); when the graph that
 * it belongs to is done, what is found there runs: what was launched beside it first, each with
 * what it launches itself, then what was launched behind it. That is one of the orders that a GPU
 * may take. */
#include "grader/runtime/graph.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

struct box {
#define FIELD(type, name)    type name;
#define ARRAY(type, name, n) type name[n];
#include "grader/sim/graph_box.def"
};
#define BEHIND (1ull << 56) /* cudaStreamGraphTailLaunch, of the device alone */

static struct box box; /* but for what kernels asked for */
static uint64_t place; /* of the device's; 0 = no graph is for the device */

static int put(void) {
    struct wb_rep_graph_mailbox p;
    int error = place ? 0 : wb_ask(graph_mailbox, NULL, &p);
    if (error) return error;
    if (!place) place = p.address;
    size_t n = offsetof(struct box, requests);
    return wb_write(place, n, &box, n, n, 1);
}

/* A kernel, copies, fills, and graphs of those. */
static bool is_sound(cudaGraph_t g) {
    for (size_t i = 0; i < g->n; i++) {
        const struct wb_command *c = &g->nodes[i]->command;
        if (c->kind == WB_CHILD && !is_sound(c->child)) return false;
        if (c->kind != WB_CHILD && c->kind != WB_LAUNCH && c->kind != WB_COPY && c->kind != WB_FILL)
            return false;
    }
    return g->n > 0;
}

int wb_graph_device_new(cudaGraph_t g) { return is_sound(g) ? put() : cudaErrorInvalidValue; }

void wb_graph_device_forget(void) {
    place = 0;
    box.nlaunchable = 0;
}

static uint64_t *find(cudaGraphExec_t x) {
    for (uint32_t i = 0; i < box.nlaunchable; i++)
        if (box.launchable[i] == (uint64_t)x) return &box.launchable[i];
    return NULL;
}

int wb_graph_device_ready(cudaGraphExec_t x) {
    if (!(x->graph->flags & cudaGraphInstantiateFlagDeviceLaunch) || find(x)) return 0;
    if (box.nlaunchable == sizeof box.launchable / sizeof *box.launchable)
        return cudaErrorMemoryAllocation;
    box.launchable[box.nlaunchable++] = (uint64_t)x;
    return put();
}

void wb_graph_device_gone(cudaGraphExec_t x) {
    uint64_t *at = find(x);
    if (at) *at = box.launchable[--box.nlaunchable];
    if (at && place) put();
}

/* ---- running ---- */

/* Graphs to run, the next one last. */
struct waiting {
    cudaGraphExec_t *graph;
    size_t n;
};

static int run_one(cudaGraphExec_t x) {
    bool device = x->graph->flags & cudaGraphInstantiateFlagDeviceLaunch;
    box.current_graph = device ? (uint64_t)x : 0;
    box.is_graph_running = 1;
    int error = put();
    return error ? error : wb_graph_run(x->graph);
}

static void take(struct waiting *w, const struct box *b, bool behind) {
    for (uint32_t i = b->nrequests; i-- > 0;)
        if ((b->requests[2 * i + 1] == BEHIND) == behind)
            w->graph[w->n++] = (cudaGraphExec_t)b->requests[2 * i];
}

static int take_all(struct waiting *w) {
    struct box b;
    int error = wb_read(&b, sizeof b, place, sizeof b, sizeof b, 1);
    if (error) return error;
    void *more = realloc(w->graph, (w->n + b.nrequests + 1) * sizeof *w->graph);
    if (!more) return cudaErrorMemoryAllocation;
    w->graph = more;
    take(w, &b, true);
    take(w, &b, false);
    return 0;
}

int wb_graph_device_run(cudaGraphExec_t x) {
    struct waiting w = {malloc(sizeof *w.graph), 0};
    if (!place) return free(w.graph), wb_graph_run(x->graph);
    int error = w.graph ? 0 : cudaErrorMemoryAllocation;
    if (!error) w.graph[w.n++] = x;
    while (!error && w.n) {
        error = run_one(w.graph[--w.n]);
        if (!error) error = take_all(&w);
    }
    free(w.graph);
    box.current_graph = box.is_graph_running = 0;
    return error ? error : put();
}
