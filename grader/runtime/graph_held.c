/* graph_held.c — describes executable graphs to the server, which then runs their nodes by itself
 * (grader/server/graph.c), while grading. A node is described by the messages that its command
 * would send: the command runs with a sink in place of the device. The nodes of child graphs
 * follow the node that contains them, in the order in which they run. */
#include "grader/runtime/graph.h"

#include <string.h>

uint32_t wb_graph_count_nodes(cudaGraph_t g) {
    uint32_t count = (uint32_t)g->n;
    for (size_t i = 0; i < g->n; i++)
        for (size_t k = 0; wb_graph_child(&g->nodes[i]->command, k); k++)
            count += wb_graph_count_nodes(wb_graph_child(&g->nodes[i]->command, k));
    return count;
}

/* ---- descriptions ---- */

struct description {
    cudaGraphNode_t node;
    uint32_t parts;
};

static int send_part(struct description *d, uint32_t op, const void *bytes, size_t n) {
    struct wb_req_graph_node q = {
        .graph = d->node->held_graph, .node = d->node->held_node, .part = d->parts++, .op = op};
    return wb_post_tail(graph_node, &q, bytes, n);
}

/* The data of a write may be in the window. */
static int describe_call(const struct wb_call *c, void *user) {
    uint8_t bytes[WB_FRAME_BYTES];
    int error;
    const struct wb_session *s = wb_session(&error);
    const void *tail = c->tail;
    size_t tail_size = c->tail_size;
    if (c->op == WB_OP_write && !tail_size) {
        const struct wb_req_write *q = c->request;
        tail = s->window + q->window_offset, tail_size = q->width * q->rows;
    }
    if (c->request_size + tail_size > sizeof bytes - 256) return cudaErrorInvalidValue;
    memcpy(bytes, c->request, c->request_size);
    if (tail_size) memcpy(bytes + c->request_size, tail, tail_size);
    return send_part(user, c->op, bytes, c->request_size + tail_size);
}

/* Host memory is read in each launch, so only the range that it is copied to is described. */
static int describe_copy_from_host(struct description *d, const struct wb_command *c) {
    int error = 0;
    for (size_t z = 0; !error && (z < c->copy.depth || !z); z++) {
        struct wb_req_write q = {.address = (uint64_t)c->copy.to + z * c->copy.to_slice,
                                 .pitch = c->copy.to_pitch,
                                 .width = c->copy.width,
                                 .rows = c->copy.rows};
        error = send_part(d, WB_OP_write, &q, sizeof q);
    }
    return error;
}

static bool is_copy_with_host(const struct wb_command *c) {
    return c->kind == WB_COPY && !(wb_is_device(c->copy.to) && wb_is_device(c->copy.from));
}

/* Returns true if all that the node does is what the server holds. */
static bool is_held_whole(const struct wb_command *c) {
    return (c->kind == WB_LAUNCH || c->kind == WB_COPY || c->kind == WB_FILL) &&
           !is_copy_with_host(c);
}

static int describe_commands(struct description *d, const struct wb_command *c) {
    if (is_copy_with_host(c)) return wb_is_device(c->copy.to) ? describe_copy_from_host(d, c) : 0;
    if (!is_held_whole(c)) return 0;
    wb_set_call_sink(describe_call, d);
    int error = wb_run_command(c);
    wb_set_call_sink(NULL, NULL);
    return error;
}

static int describe_node(cudaGraphNode_t node) {
    struct description d = {.node = node};
    node->is_accepted = false;
    unsigned device = wb_exchange_device(node->command.device);
    int error = describe_commands(&d, &node->command);
    if (!error && !d.parts) error = send_part(&d, WB_GRAPH_NO_COMMAND, NULL, 0);
    wb_exchange_device(device);
    return error;
}

static int describe_graph(cudaGraph_t g, uint64_t held_graph, uint32_t *next) {
    int error = 0;
    for (size_t i = 0; !error && i < g->n; i++) {
        cudaGraphNode_t node = g->nodes[i];
        node->held_graph = held_graph, node->held_node = (*next)++;
        error = describe_node(node);
        for (size_t k = 0; !error && wb_graph_child(&node->command, k); k++)
            error = describe_graph(wb_graph_child(&node->command, k), held_graph, next);
    }
    return error;
}

int wb_graph_hold(cudaGraphExec_t x) {
    int error;
    const struct wb_session *s = wb_session(&error);
    struct wb_rep_graph_create p;
    uint32_t next = 0;
    if (!s || !s->grading) return 0;
    error = wb_request(graph_create, NULL, &p);
    if (error) return error;
    x->held = p.graph;
    return describe_graph(x->graph, x->held, &next);
}

int wb_graph_hold_again(cudaGraphNode_t node) {
    uint32_t next = node->held_node + 1;
    cudaGraph_t child = wb_graph_child(&node->command, 0);
    int error = describe_node(node);
    return error || !child ? error : describe_graph(child, node->held_graph, &next);
}

void wb_graph_release_held(cudaGraphExec_t x) {
    if (x->held) wb_post(graph_destroy, &((struct wb_req_graph_destroy){.graph = x->held}));
}

/* ---- launches ---- */

int wb_graph_launch_held(cudaGraphExec_t x) {
    if (!x->held) return 0;
    return wb_post(graph_launch, &((struct wb_req_graph_launch){.graph = x->held}));
}

/* The server checks a node's commands when they run: the first time, the launch reports errors. */
static int send_run(cudaGraphNode_t node) {
    struct wb_req_graph_run q = {.graph = node->held_graph, .node = node->held_node};
    if (node->is_accepted) return wb_post(graph_run, &q);
    int error = wb_request(graph_run, &q, NULL);
    node->is_accepted = !error;
    return error;
}

int wb_graph_run_held(cudaGraphNode_t node) {
    const struct wb_command *c = &node->command;
    if (!is_held_whole(c) && !is_copy_with_host(c)) return wb_run_node(c);
    unsigned device = wb_exchange_device(c->device);
    wb_flush_output();
    if (c->kind == WB_LAUNCH) wb_mark_launch_pending();
    int error = send_run(node);
    wb_exchange_device(device);
    return error || is_held_whole(c) ? error : wb_run_node(c);
}
