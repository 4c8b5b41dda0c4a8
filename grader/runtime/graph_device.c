/* graph_device.c — graphs that kernels launch (cudaGraphInstantiateFlagDeviceLaunch). A kernel
 * writes its launches to a mailbox in device memory (sim/graph_mailbox.def). They run after the
 * kernel's own graph: first the fire-and-forget launches, each with its own launches, then the tail
 * launches. A GPU may use this order too. */
#include "grader/runtime/graph.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

struct graph_mailbox {
#define FIELD(type, name)    type name;
#define ARRAY(type, name, n) type name[n];
#include "grader/sim/graph_mailbox.def"
};
#define TAIL_LAUNCH (1ull << 56) /* cudaStreamGraphTailLaunch, of the device alone */

static struct graph_mailbox mailbox; /* except graphs that kernels launched */
static uint64_t mailbox_address;     /* mailbox in device memory; 0 = no graph was instantiated
                                      * for device launch */

static int write_mailbox(void) {
    struct wb_rep_graph_mailbox p;
    int error = mailbox_address ? 0 : wb_request(graph_mailbox, NULL, &p);
    if (error) return error;
    if (!mailbox_address) mailbox_address = p.address;
    size_t n = offsetof(struct graph_mailbox, requests);
    return wb_write(mailbox_address, n, &mailbox, n, n, 1);
}

/* Returns true for the nodes that a device-launched graph may have: kernels, copies, fills, and
 * graphs of those. */
static bool is_device_launchable(cudaGraph_t g) {
    for (size_t i = 0; i < g->n; i++) {
        const struct wb_command *c = &g->nodes[i]->command;
        if (c->kind == WB_CHILD && !is_device_launchable(c->child)) return false;
        if (c->kind != WB_CHILD && c->kind != WB_LAUNCH && c->kind != WB_COPY && c->kind != WB_FILL)
            return false;
    }
    return g->n > 0;
}

int wb_graph_device_prepare(cudaGraph_t g) {
    return is_device_launchable(g) ? write_mailbox() : cudaErrorInvalidValue;
}

void wb_graph_device_reset(void) {
    mailbox_address = 0;
    mailbox.nlaunchable = 0;
}

static uint64_t *find_uploaded(cudaGraphExec_t x) {
    for (uint32_t i = 0; i < mailbox.nlaunchable; i++)
        if (mailbox.launchable[i] == (uint64_t)x) return &mailbox.launchable[i];
    return NULL;
}

int wb_graph_device_upload(cudaGraphExec_t x) {
    if (!(x->graph->flags & cudaGraphInstantiateFlagDeviceLaunch) || find_uploaded(x)) return 0;
    if (mailbox.nlaunchable == sizeof mailbox.launchable / sizeof *mailbox.launchable)
        return cudaErrorMemoryAllocation;
    mailbox.launchable[mailbox.nlaunchable++] = (uint64_t)x;
    return write_mailbox();
}

void wb_graph_device_remove(cudaGraphExec_t x) {
    uint64_t *at = find_uploaded(x);
    if (at) *at = mailbox.launchable[--mailbox.nlaunchable];
    if (at && mailbox_address) write_mailbox();
}

/* ---- running ---- */

/* The graphs to run, in reverse order. */
struct launch_stack {
    cudaGraphExec_t *graphs;
    size_t n;
};

static int run_one(cudaGraphExec_t x) {
    bool is_device_graph = x->graph->flags & cudaGraphInstantiateFlagDeviceLaunch;
    mailbox.current_graph = is_device_graph ? (uint64_t)x : 0;
    mailbox.is_graph_running = 1;
    int error = write_mailbox();
    return error ? error : wb_graph_run(x->graph);
}

static void push_requests(struct launch_stack *w, const struct graph_mailbox *b, bool tail) {
    for (uint32_t i = b->nrequests; i-- > 0;)
        if ((b->requests[2 * i + 1] == TAIL_LAUNCH) == tail)
            w->graphs[w->n++] = (cudaGraphExec_t)b->requests[2 * i];
}

static int push_all_requests(struct launch_stack *w) {
    struct graph_mailbox b;
    int error = wb_read(&b, sizeof b, mailbox_address, sizeof b, sizeof b, 1);
    if (error) return error;
    void *resized = realloc(w->graphs, (w->n + b.nrequests + 1) * sizeof *w->graphs);
    if (!resized) return cudaErrorMemoryAllocation;
    w->graphs = resized;
    push_requests(w, &b, true);
    push_requests(w, &b, false);
    return 0;
}

int wb_graph_device_run(cudaGraphExec_t x) {
    struct launch_stack w = {malloc(sizeof *w.graphs), 0};
    if (!mailbox_address) return free(w.graphs), wb_graph_run(x->graph);
    int error = w.graphs ? 0 : cudaErrorMemoryAllocation;
    if (!error) w.graphs[w.n++] = x;
    while (!error && w.n) {
        error = run_one(w.graphs[--w.n]);
        if (!error) error = push_all_requests(&w);
    }
    free(w.graphs);
    mailbox.current_graph = mailbox.is_graph_running = 0;
    return error ? error : write_mailbox();
}
