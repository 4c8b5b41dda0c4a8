/* graph_conditional.c — conditional nodes of graphs: a word of device memory, which kernels set
 * by cudaGraphSetConditional, selects which of their bodies run and how often. The word's address
 * is the handle. A node keeps it alive, as an allocation node keeps its memory. */
#include "grader/runtime/graph.h"

#include <stdlib.h>

#if CUDART_VERSION >= 12080

struct condition {
    struct condition *next;
    uint64_t handle;
    uint32_t default_value;
    bool has_default; /* set at each launch of the graph */
};

static struct condition *conditions;

static const struct condition *find_condition(uint64_t handle) {
    wb_lock();
    struct condition *c = conditions;
    while (c && c->handle != handle) c = c->next;
    wb_unlock();
    return c;
}

static int create_condition(uint64_t *out, uint32_t default_value, bool has_default) {
    struct condition *c = calloc(1, sizeof *c);
    void *word;
    int error = c ? wb_graph_condition_word_new(&word) : cudaErrorMemoryAllocation;
    if (error) return free(c), error;
    wb_lock();
    *c = (struct condition){.next = conditions,
                            .handle = (uint64_t)word,
                            .default_value = default_value,
                            .has_default = has_default};
    conditions = c;
    wb_unlock();
    *out = c->handle;
    return 0;
}

cudaError_t cudaGraphConditionalHandleCreate(cudaGraphConditionalHandle *out, cudaGraph_t g,
                                             unsigned default_value, unsigned flags) {
    uint64_t handle;
    if (!out || !g || flags & ~(unsigned)cudaGraphCondAssignDefault)
        return wb_return(cudaErrorInvalidValue);
    int error = create_condition(&handle, default_value, flags & cudaGraphCondAssignDefault);
    if (!error) *out = handle;
    return wb_return(error);
}

/* ---- the node ---- */

static bool is_valid_node(const struct cudaConditionalNodeParams *p) {
    unsigned max_bodies = p->type == cudaGraphCondTypeIf      ? 2
                          : p->type == cudaGraphCondTypeWhile ? 1
                                                              : WB_MAX_BODIES;
    return find_condition(p->handle) && p->size >= 1 && p->size <= max_bodies &&
           (unsigned)p->type <= cudaGraphCondTypeSwitch;
}

/* Creates its bodies as empty graphs, which the program fills. */
int wb_graph_conditional_new(struct cudaConditionalNodeParams *p, struct wb_command *c) {
    if (!is_valid_node(p)) return cudaErrorInvalidValue;
    *c = (struct wb_command){
        .kind = WB_CONDITIONAL,
        .conditional = {.handle = p->handle, .type = (unsigned)p->type, .body_count = p->size}};
    c->conditional.bodies = calloc(p->size, sizeof *c->conditional.bodies);
    for (unsigned i = 0; c->conditional.bodies && i < p->size; i++)
        cudaGraphCreate(&c->conditional.bodies[i], 0);
    p->phGraph_out = c->conditional.bodies;
    return c->conditional.bodies ? 0 : cudaErrorMemoryAllocation;
}

static int read_condition(const struct wb_command *c, uint32_t *value) {
    return wb_read(value, sizeof *value, c->conditional.handle, sizeof *value, sizeof *value, 1);
}

int wb_graph_conditional_run(const struct wb_command *c) {
    cudaGraph_t *body = c->conditional.bodies;
    uint32_t value;
    int error = read_condition(c, &value);
    switch ((enum cudaGraphConditionalNodeType)c->conditional.type) {
    case cudaGraphCondTypeWhile:
        while (!error && value && !(error = wb_graph_run(body[0])))
            error = read_condition(c, &value);
        return error;
    case cudaGraphCondTypeIf:
        value = !value;
        break; /* the second body, if any, runs if the condition is 0 */
    case cudaGraphCondTypeSwitch: break;
    }
    return error || value >= c->conditional.body_count ? error : wb_graph_run(body[value]);
}

/* At a launch, sets all conditions with a default value, also those in bodies. */
int wb_graph_conditional_reset(cudaGraph_t g) {
    int error = 0;
    for (size_t i = 0; !error && i < g->n; i++) {
        const struct wb_command *c = &g->nodes[i]->command;
        if (c->kind == WB_CHILD) error = wb_graph_conditional_reset(c->child);
        if (c->kind != WB_CONDITIONAL) continue;
        const struct condition *k = find_condition(c->conditional.handle);
        if (k && k->has_default) error = wb_fill((void *)k->handle, 4, k->default_value, 4, 1, 1);
        for (unsigned b = 0; !error && b < c->conditional.body_count; b++)
            error = wb_graph_conditional_reset(c->conditional.bodies[b]);
    }
    return error;
}

#else /* the headers have no such nodes */

int wb_graph_conditional_run(const struct wb_command *c) { return (void)c, cudaErrorNotSupported; }
int wb_graph_conditional_reset(cudaGraph_t g) { return (void)g, 0; }

#endif
