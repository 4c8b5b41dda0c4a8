/* graph.c — holds the graphs that an exercise's entry has instantiated. The client describes each
 * node once, by the messages that the node's commands would be; a launch names the graph, and then
 * the nodes in their order, and the server executes what it holds. So the metrics on host commands
 * and on nodes rest on what runs, not on what the client says about it: a command that is no node
 * of a held graph is one of the host's own.
 *
 * A held command is checked when it runs, by the handler of its message, like any other. Copies
 * from host memory are the exception: their data changes, so the client sends it in each launch,
 * and the server accepts as many bytes, within the range of the node. */
#include "common/grow.h"
#include "grader/server/internal.h"

#include <stdlib.h>
#include <string.h>

struct held_command {
    struct held_command *next;
    enum wb_op op;
    unsigned device;
    size_t request_size, tail_size;
    _Alignas(16) uint8_t bytes[]; /* the request, then its tail */
};

struct held_node {
    struct held_command *first, **end; /* end: of a list that is not empty */
    unsigned ncommands;
};

struct server_graph {
    struct held_node *nodes;
    unsigned nnodes, capacity;
    unsigned counted_in; /* the recording whose metrics count its nodes */
    unsigned launch;     /* the one under way, as in struct command */
    uint32_t next_node;  /* the lowest node that it may run next */
};

static struct server_graph *graph_at(const struct server *s, uint64_t number) {
    return number - 1 < s->graphs.nslots ? s->graphs.slots[number - 1] : NULL;
}

static size_t held_size(const struct held_command *c) {
    return sizeof *c + c->request_size + c->tail_size;
}

static void clear_node(struct server *s, struct held_node *n) {
    struct held_command *next;
    for (struct held_command *c = n->first; c; c = next) {
        next = c->next;
        s->graphs.bytes -= held_size(c);
        free(c);
    }
    *n = (struct held_node){0};
}

static void free_graph(struct server *s, struct server_graph *g) {
    for (unsigned i = 0; i < g->nnodes; i++) clear_node(s, &g->nodes[i]);
    s->graphs.bytes -= g->nnodes * sizeof *g->nodes;
    free(g->nodes);
    free(g);
}

void server_graphs_clear(struct server *s) {
    for (unsigned i = 0; i < s->graphs.nslots; i++)
        if (s->graphs.slots[i]) free_graph(s, s->graphs.slots[i]);
    free(s->graphs.slots);
    s->graphs = (struct server_graphs){0};
}

/* ---- instantiation ---- */

int server_on_graph_create(struct server *s, const struct wb_req_graph_create *q,
                           struct message_tail tail, struct wb_rep_graph_create *p,
                           struct buf *out) {
    (void)q, (void)tail, (void)out;
    struct server_graphs *g = &s->graphs;
    if (!s->options.grading) return WB_cudaErrorNotPermitted;
    unsigned i = 0;
    while (i < g->nslots && g->slots[i]) i++;
    if (i == MAX_GRAPHS)
        return server_refuse(s, WB_cudaErrorMemoryAllocation, "more than %d instantiated graphs",
                             MAX_GRAPHS);
    GROW(g->slots, i + 1, g->capacity, 16);
    if (i == g->nslots) g->nslots++;
    g->slots[i] = xcalloc(1, sizeof *g->slots[i]);
    *g->slots[i] = (struct server_graph){.counted_in = s->nrecordings, .next_node = UINT32_MAX};
    p->graph = i + 1;
    return 0;
}

int server_on_graph_destroy(struct server *s, const struct wb_req_graph_destroy *q,
                            struct message_tail tail, struct wb_rep_graph_destroy *p,
                            struct buf *out) {
    (void)tail, (void)p, (void)out;
    struct server_graph *g = graph_at(s, q->graph);
    if (!g) return WB_cudaErrorInvalidValue;
    free_graph(s, g);
    s->graphs.slots[q->graph - 1] = NULL;
    return 0;
}

static size_t request_size_of(uint32_t op) {
    switch (op) {
    case WB_OP_launch: return sizeof(struct wb_req_launch);
    case WB_OP_copy: return sizeof(struct wb_req_copy);
    case WB_OP_fill: return sizeof(struct wb_req_fill);
    case WB_OP_write: return sizeof(struct wb_req_write);
    }
    return 0;
}

/* Returns false, and ends the call, if the graphs would hold too much. */
static bool reserve_bytes(struct server *s, size_t bytes) {
    s->graphs.bytes += bytes;
    if (s->graphs.bytes <= s->options.max_recorded_bytes) return true;
    s->graphs.bytes -= bytes;
    s->limit_exceeded = true;
    server_refuse(s, 0, "the entry's graphs hold more than %llu MiB",
                  (unsigned long long)(s->options.max_recorded_bytes >> 20));
    return false;
}

static int append_command(struct server *s, struct held_node *n, uint32_t op,
                          struct message_tail tail) {
    size_t request_size = request_size_of(op);
    if (!request_size || tail.size < request_size) return WB_cudaErrorInvalidValue;
    if (!reserve_bytes(s, sizeof(struct held_command) + tail.size))
        return WB_cudaErrorMemoryAllocation;
    struct held_command *c = xmalloc(sizeof *c + tail.size);
    *c = (struct held_command){.op = (enum wb_op)op,
                               .device = s->device,
                               .request_size = request_size,
                               .tail_size = tail.size - request_size};
    memcpy(c->bytes, tail.data, tail.size);
    if (!n->first) n->end = &n->first;
    *n->end = c, n->end = &c->next;
    n->ncommands++;
    return 0;
}

static int append_node(struct server *s, struct server_graph *g) {
    if (!reserve_bytes(s, sizeof *g->nodes)) return WB_cudaErrorMemoryAllocation;
    GROW(g->nodes, g->nnodes + 1, g->capacity, 16);
    g->nodes[g->nnodes++] = (struct held_node){0};
    if (s->recording && g->counted_in == s->nrecordings) s->recording->instantiated_nodes++;
    return 0;
}

int server_on_graph_node(struct server *s, const struct wb_req_graph_node *q,
                         struct message_tail tail, struct wb_rep_graph_node *p, struct buf *out) {
    (void)p, (void)out;
    struct server_graph *g = graph_at(s, q->graph);
    if (!g || q->node > g->nnodes) return WB_cudaErrorInvalidValue;
    int error = q->node == g->nnodes ? append_node(s, g) : 0;
    if (error) return error;
    struct held_node *n = &g->nodes[q->node];
    if (q->part == 0) clear_node(s, n);
    if (q->part != n->ncommands) return WB_cudaErrorInvalidValue;
    return q->op == WB_GRAPH_NO_COMMAND ? 0 : append_command(s, n, q->op, tail);
}

/* ---- launches ---- */

/* A graph of an earlier call counts as instantiated in the first one that launches it: without
 * that call, this one would have had to. */
static void count_nodes(struct server *s, struct server_graph *g) {
    if (!s->recording || g->counted_in == s->nrecordings) return;
    s->recording->instantiated_nodes += g->nnodes;
    g->counted_in = s->nrecordings;
}

int server_on_graph_launch(struct server *s, const struct wb_req_graph_launch *q,
                           struct message_tail tail, struct wb_rep_graph_launch *p,
                           struct buf *out) {
    (void)tail, (void)p, (void)out;
    struct server_graph *g = graph_at(s, q->graph);
    struct recording *r = s->recording;
    if (!g) return WB_cudaErrorInvalidValue;
    count_nodes(s, g);
    g->next_node = 0;
    if (r) r->host_commands++, g->launch = ++r->graph_launches;
    return 0;
}

void server_graphs_end_launches(struct server *s) {
    for (unsigned i = 0; i < s->graphs.nslots; i++)
        if (s->graphs.slots[i]) s->graphs.slots[i]->next_node = UINT32_MAX;
    s->graphs.write_bytes = 0;
}

/* Allows the writes of a copy from host memory. */
static void expect_write(struct server_graphs *g, const struct wb_req_write *q) {
    uint64_t bytes, stride, end;
    if (__builtin_mul_overflow(q->width, q->rows, &bytes) || !bytes ||
        __builtin_mul_overflow(q->rows - 1, q->pitch, &stride) ||
        __builtin_add_overflow(q->address + q->width, stride, &end) ||
        __builtin_add_overflow(g->write_bytes, bytes, &bytes))
        return;
    bool is_first = !g->write_bytes;
    if (is_first || q->address < g->write_start) g->write_start = q->address;
    if (is_first || end > g->write_end) g->write_end = end;
    g->write_bytes = bytes;
}

static bool take_expected_write(struct server_graphs *g, const struct wb_req_write *q) {
    uint64_t bytes = q->width * q->rows; /* the write was checked */
    bool is_inside =
        q->address >= g->write_start && q->address < g->write_end &&
        (q->rows - 1) * (q->rows > 1 ? q->pitch : 0) + q->width <= g->write_end - q->address;
    if (!q->rows || !is_inside || bytes > g->write_bytes) return false;
    g->write_bytes -= bytes;
    return true;
}

bool server_is_node_command(struct server *s, enum wb_op op, const void *request) {
    if (s->graphs.is_running_node) return true;
    return op == WB_OP_write && take_expected_write(&s->graphs, request);
}

static int run_command(struct server *s, const struct held_command *c) {
    const void *q = c->bytes;
    struct message_tail tail = {c->bytes + c->request_size, c->tail_size};
    struct buf out = {0};
    server_select_device(s, c->device);
    switch ((int)c->op) {
    case WB_OP_launch: return server_on_launch(s, q, tail, NULL, &out);
    case WB_OP_copy: return server_on_copy(s, q, tail, NULL, &out);
    case WB_OP_fill: return server_on_fill(s, q, tail, NULL, &out);
    }
    if (tail.size) return server_on_write(s, q, tail, NULL, &out);
    return expect_write(&s->graphs, q), 0;
}

static int run_node(struct server *s, const struct held_node *n) {
    int error = 0;
    for (const struct held_command *c = n->first; !error && c && !s->limit_exceeded; c = c->next) {
        if (s->options.max_messages && ++s->messages > s->options.max_messages)
            s->limit_exceeded = true;
        else if (s->deadline && server_now() >= s->deadline) error = WB_cudaErrorLaunchTimeout;
        else error = run_command(s, c);
        if (s->pending.kernel) server_run_pending(s);
    }
    return error;
}

int server_on_graph_run(struct server *s, const struct wb_req_graph_run *q,
                        struct message_tail tail, struct wb_rep_graph_run *p, struct buf *out) {
    (void)tail, (void)p, (void)out;
    struct server_graph *g = graph_at(s, q->graph);
    if (!g || q->node >= g->nnodes || q->node < g->next_node)
        return server_refuse(s, WB_cudaErrorInvalidValue,
                             "no launch of a graph that runs its node %u next", q->node);
    g->next_node = q->node + 1;
    s->graphs.launch = g->launch, s->graphs.write_bytes = 0;
    s->graphs.is_running_node = true;
    int error = run_node(s, &g->nodes[q->node]);
    s->graphs.is_running_node = false;
    return error;
}
